"""Training on the simulated GPU gives the losses of the plain CPU run."""

from contextlib import nullcontext

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - everybody's name for it

import lab.gpu

STEPS = 20


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        self.position = nn.Parameter(torch.zeros(16, 32))
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 50)

    def forward(self, tokens):
        return self.head(self.encoder(self.embedding(tokens) + self.position))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        self.lstm = nn.LSTM(32, 32, 2, batch_first=True)
        self.head = nn.Linear(32, 50)

    def forward(self, tokens):
        return self.head(self.lstm(self.embedding(tokens))[0])


def cnn():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )


def images():
    return torch.randn(16, 3, 16, 16), torch.randint(0, 10, (16,))


def tokens():
    return torch.randint(0, 50, (8, 16)), torch.randint(0, 50, (8, 16))


MODELS = {"cnn": (cnn, images), "transformer": (Transformer, tokens), "lstm": (Lstm, tokens)}


def losses(model, optimizer, device, half):
    torch.manual_seed(0)
    make, data = MODELS[model]
    net = make()
    x, y = (tensor.to(device) for tensor in data())
    net.to(device)
    update = optimizer(net.parameters(), lr=1e-2)
    seen = []
    for _ in range(STEPS):
        update.zero_grad()
        with torch.autocast(device, dtype=half) if half else nullcontext():
            out = net(x)
            loss = F.cross_entropy(out.flatten(0, -2), y.flatten())
        loss.backward()
        update.step()
        seen.append(loss.item())
    return seen


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("half", [None, torch.bfloat16, torch.float16], ids=["fp32", "bf16", "fp16"])
def test_losses_equal_those_of_the_cpu(model, optimizer, half):
    if lab.gpu.use().kind == "real":
        pytest.skip("about the simulated GPU")
    on_the_cpu = None if half is torch.float16 else half  # not every CPU has fp16 for every op
    on_gpu, on_cpu = losses(model, optimizer, "cuda", half), losses(model, optimizer, "cpu", on_the_cpu)
    assert on_gpu == pytest.approx(on_cpu, rel=2e-2 if half else 1e-5)
    assert on_gpu[-1] < on_gpu[0]
