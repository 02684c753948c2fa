"""A short training run whose loss is watched, so that it is easy to wait for the GPU in every step."""

from __future__ import annotations

import random
from typing import Any
from weakref import WeakSet

import torch
from torch import nn

from lab import observe
from lab.workloads.sizing import matmul_edge

STEPS = 24
LOG_EVERY = 8
BREAKS_AT = (9, 15)  # steps at which the loss may stop being a number; none of them is logged
ROWS = 128  # more than CUDA copies at once from ordinary memory
CLASSES = 10
LAYERS = (2, 5)

Batch = tuple[torch.Tensor, torch.Tensor]
graphs: WeakSet[Any] = WeakSet()  # one for each loss whose graph is still in memory


class Watched(torch.autograd.Function):
    """The loss itself. What autograd keeps for it is there for as long as anyone holds on to the loss's graph."""

    @staticmethod
    def forward(ctx: Any, loss: torch.Tensor) -> torch.Tensor:
        graphs.add(ctx)
        return loss.clone()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad


class Training:
    """The parts of a training run: go through `batches`, call `step` on each, and `log` the loss now and then.

    The batches are on the CPU, in pinned memory. `step` wants them on the GPU, trains, and returns the loss there.
    """

    def __init__(self, seed: int, breaks: bool) -> None:
        draw = random.Random(seed)
        edge = matmul_edge()
        generator = torch.Generator().manual_seed(seed)
        hidden = [layer for _ in range(draw.randrange(*LAYERS)) for layer in (nn.Linear(edge, edge), nn.Tanh())]
        model = nn.Sequential(*hidden, nn.Linear(edge, CLASSES))
        with torch.no_grad():
            for weights in model.parameters():
                weights.copy_(torch.randn(weights.shape, generator=generator) / edge**0.5)
        self._model = model.to("cuda")
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=0.1)
        self._steps = 0
        breaks_at = draw.randrange(*BREAKS_AT) if breaks else None
        clearness = [draw.uniform(0, 2) for _ in range(STEPS - 1)] + [0.0]  # so the last loss isn't the lowest
        self.batches = [batch(edge, generator, clear, number == breaks_at) for number, clear in enumerate(clearness)]

    def step(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Train on one batch, return the loss without waiting for it."""
        observe.record("workload", phase="step", step=self._steps, graphs=len(graphs))
        self._steps += 1
        self._optimizer.zero_grad()
        loss: torch.Tensor = Watched.apply(nn.functional.cross_entropy(self._model(images), labels))
        loss.backward()
        self._optimizer.step()
        return loss

    def log(self, step: int, loss: float) -> None:
        """Write the loss of a step where the team looks at it."""
        observe.record("workload", phase="log", step=int(step), loss=float(loss))


def batch(edge: int, generator: torch.Generator, clearness: float, broken: bool) -> Batch:
    """Images with labels, harder to tell in some batches than in others; a broken one holds what is no number."""
    labels = torch.randint(0, CLASSES, (ROWS,), generator=generator)
    images = torch.randn(ROWS, edge, generator=generator)
    images[torch.arange(ROWS), labels] += clearness * edge**0.5
    if broken:
        images[0, 0] = float("nan")
    return images.pin_memory(), labels.pin_memory()


def build(seed: int, breaks: bool = False) -> Training:
    """A training run. One that breaks has a batch after which the loss isn't a number any more."""
    return Training(seed, breaks)


def expect(seed: int, breaks: bool = False) -> dict[str, Any]:
    """The loss of each step, and the steps to be logged."""
    training = build(seed, breaks)
    losses = [training.step(images.to("cuda"), labels.to("cuda")).item() for images, labels in training.batches]
    return {"losses": losses, "logged": list(range(0, STEPS, LOG_EVERY))}
