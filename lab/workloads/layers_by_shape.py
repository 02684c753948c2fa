"""A network whose layers all run the same operator: each way to guess at the costliest names another one."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from lab import observe
from lab.workloads.sizing import gpu_seconds, matmul_edge

NAMES = ("embed", "gate", "mix", "expand", "project")


RUNS = 8  # the shortest counts: what holds up one call of a hundred would count a hundred times


@dataclass(frozen=True)
class Part:
    """A layer's sizes, in quarters of an edge, and how often a forward pass calls it."""

    rows: int
    width: int
    out: int
    calls: tuple[int, int]


PARTS = (
    Part(3, 4, 5, (1, 2)),
    Part(16, 8, 8, (1, 2)),  # the longest single call
    Part(1, 1, 1, (90, 130)),  # called most often
    Part(1, 16, 16, (1, 2)),  # by far the most weights
)
COSTLIEST = (Part(16, 4, 4, (7, 10)), Part(8, 4, 8, (7, 10)), Part(4, 12, 8, (7, 10)))  # in all calls together
Planned = tuple[str, Part, int]  # a layer's name, its sizes, its calls


class Network(nn.Module):
    """Some linear layers, as attributes. Call it with its `batch`."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        plan, quarter = plan_of(seed), matmul_edge() // 4
        self.steps: list[Callable[[torch.Tensor], torch.Tensor]] = []
        for name, part, calls in plan:
            layer = nn.Linear(part.width * quarter, part.out * quarter)
            self.add_module(name, layer)
            self.steps.append(repeated(layer, part.rows * quarter, calls))
        rows, width = max(part.rows for _, part, _ in plan), max(part.width for _, part, _ in plan)
        generator = torch.Generator().manual_seed(seed)
        self.batch = torch.randn(rows * quarter, width * quarter, generator=generator).to("cuda")
        self.to("cuda")

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        observe.record("workload", phase="forward")
        last = batch
        for step in self.steps:
            last = step(batch)
        return last


def plan_of(seed: int) -> list[Planned]:
    """The layers in the order in which they run. The costliest isn't always the same among the sizes."""
    draw = random.Random(seed)
    parts = draw.sample([*PARTS, draw.choice(COSTLIEST)], len(NAMES))
    return [
        (name, part, draw.randrange(*part.calls))
        for name, part in zip(draw.sample(NAMES, len(NAMES)), parts, strict=True)
    ]


def repeated(layer: nn.Linear, rows: int, calls: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """Some calls of a layer, one after another. How many there are stands nowhere: it has to be seen."""

    def step(batch: torch.Tensor) -> torch.Tensor:
        last = batch
        for _ in range(calls):
            last = layer(batch[:rows, : layer.in_features])
        return last

    return step


def build(seed: int) -> Network:
    """A network that wasn't run yet."""
    return Network(seed)


def expect(seed: int) -> list[dict[str, object]]:
    """For each layer, in the order in which they run: its calls, the GPU time of all of them, and its weights."""
    network, quarter = Network(seed), matmul_edge() // 4
    told: list[dict[str, object]] = []
    with torch.no_grad():
        for name, part, calls in plan_of(seed):
            layer = network.get_submodule(name)
            given = network.batch[: part.rows * quarter, : part.width * quarter]
            one_s = gpu_seconds(lambda layer=layer, given=given: layer(given), runs=RUNS)  # type: ignore[misc]
            weights = sum(parameter.numel() for parameter in layer.parameters())
            told.append({"name": name, "calls": calls, "gpu_ms": 1000 * one_s * calls, "weights": weights})
    return told
