"""A model in which another layer is the largest for each way to look at a layer's memory."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import nn

from lab import observe

MIB = 2**20
FEATURES, WIDTH, ROWS, CLASSES = 64, 512, 1024, 10  # what goes from layer to layer takes 2 MiB
CHAIN = (6, 9)  # nonlinearities in the layer that keeps the most; each keeps 2 MiB for backward
SHORT_CHAIN, LAST_CHAIN = 3, 5
NARROW, NARROW_CHAIN = 32, (10, 17)  # more nonlinearities, of fewer values: 128 KiB each
MORE = 2  # by how many times 2 MiB the layers that only seem to be the largest surpass it


class Table(nn.Module):
    """Adds a learned vector to each row: many parameters, little memory in a forward pass."""

    def __init__(self, mib: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.zeros(mib * MIB // (4 * WIDTH), WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.vectors[: len(x)]


class Positions(nn.Module):
    """Adds a vector for each position. The vectors are computed at the first call, and kept."""

    def __init__(self, mib: int) -> None:
        super().__init__()
        self.rows = mib * MIB // (4 * WIDTH)
        self.vectors: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.vectors is None:
            self.vectors = torch.linspace(0, 1, self.rows * WIDTH, device=x.device).view(self.rows, WIDTH)
        return x + self.vectors[: len(x)]


class Average(nn.Module):
    """Adds a blurred copy, averaged over several shifted ones. They are freed before it returns."""

    def __init__(self, copies: int) -> None:
        super().__init__()
        self.copies = copies

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            blurred = torch.stack([x] * self.copies).mean(dim=0)
        return x + blurred


class Spread(nn.Module):
    """Repeats each row's values: the largest output of all layers."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.repeat(1, 4)


class Narrow(nn.Module):
    """Goes on with a few of each row's values."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, :NARROW]


class Widen(nn.Module):
    """Repeats each row's few values."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.repeat(1, WIDTH // NARROW)


class Gather(nn.Module):
    """Averages what Spread repeated."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(len(x), 4, WIDTH).mean(dim=1)


def nonlinearities(count: int) -> nn.Sequential:
    return nn.Sequential(*(nn.Tanh() if index % 2 else nn.Sigmoid() for index in range(count)))


def model_of(seed: int) -> nn.Sequential:
    """The layers in an order drawn from the seed, each named after its place."""
    draw = random.Random(seed)
    chain = draw.randrange(*CHAIN)
    more_mib = 2 * (chain + MORE)
    groups: list[list[nn.Module]] = [
        [nonlinearities(chain)],
        [nonlinearities(SHORT_CHAIN)],
        [nn.Sequential(Narrow(), *nonlinearities(draw.randrange(*NARROW_CHAIN)), Widen())],
        [Table(more_mib)],
        [Positions(more_mib)],
        [Average(chain + MORE)],
        [Spread(), Gather()],
    ]
    draw.shuffle(groups)
    # The first and the last are never the largest. After the last, more is allocated than after any other.
    last = nn.Sequential(*nonlinearities(LAST_CHAIN), nn.Linear(WIDTH, CLASSES))
    layers = [nn.Linear(FEATURES, WIDTH), *(layer for group in groups for layer in group), last]
    model = nn.Sequential()
    for place, layer in enumerate(layers):
        model.add_module(f"block{place}", layer)
    return model.to("cuda")


def build(seed: int, part: str) -> nn.Sequential | torch.Tensor:
    """The model, not called yet (`part` "model"), or a batch for it ("inputs")."""
    if part == "inputs":
        return torch.randn(ROWS, FEATURES, generator=torch.Generator().manual_seed(seed)).to("cuda")
    torch.manual_seed(seed)
    model = model_of(seed)
    for layer in model.children():
        layer.register_forward_pre_hook(note_the_call)
    return model


def note_the_call(layer: nn.Module, inputs: object) -> None:
    observe.record("workload", phase="layer", graph=torch.is_grad_enabled())


def expect(seed: int) -> dict[str, dict[str, int]]:
    """What each layer is the largest in, in bytes: one dictionary for each way to look at it."""
    model, inputs = model_of(seed), build(seed, "inputs")
    measured: dict[str, dict[str, int]] = {
        "parameters": {name: own_bytes(layer) for name, layer in model.named_children()},
        "first_call": increases(model, inputs, torch.cuda.memory_allocated),
    }
    measured["kept"] = increases(model, inputs, torch.cuda.memory_allocated)
    measured["peak"] = increases(model, inputs, torch.cuda.max_memory_allocated)
    with torch.no_grad():
        measured["output"] = increases(model, inputs, torch.cuda.memory_allocated)
    return measured


def own_bytes(layer: nn.Module) -> int:
    return sum(parameter.numel() * parameter.element_size() for parameter in layer.parameters())


def increases(model: nn.Sequential, inputs: object, read: Callable[[], int]) -> dict[str, int]:
    """By how much each layer's call raises what `read` reads, above what is allocated before the call."""
    grown, values = {}, [inputs]
    for name, layer in model.named_children():
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        values.append(layer(values[-1]))
        grown[name] = read() - before
    return grown
