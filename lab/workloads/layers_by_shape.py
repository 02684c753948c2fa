"""A network whose layers all run the same operator: each way to guess at the costliest names another one."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from torch import nn

from lab.workloads.sizing import gpu_seconds, matmul_edge

NAMES = ("embed", "gate", "mix", "expand", "project")


@dataclass(frozen=True)
class Part:
    """A layer's sizes, in quarters of an edge, and how often a forward pass calls it."""

    rows: int
    width: int
    out: int
    calls: tuple[int, int]


PARTS = (
    Part(3, 4, 5, (1, 2)),
    Part(8, 4, 8, (7, 10)),  # the costliest, in all its calls together
    Part(16, 8, 8, (1, 2)),  # the longest single call
    Part(1, 1, 1, (90, 130)),  # called most often
    Part(1, 16, 16, (1, 2)),  # by far the most weights
)


class Network(nn.Module):
    """Some linear layers, as attributes. Call it with its `batch`."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        draw, quarter = random.Random(seed), matmul_edge() // 4
        generator = torch.Generator().manual_seed(seed)
        parts = draw.sample(PARTS, len(PARTS))
        self.plan: list[tuple[str, int, int]] = []  # name, rows, calls
        for name, part in zip(draw.sample(NAMES, len(NAMES)), parts, strict=True):
            layer = nn.Linear(part.width * quarter, part.out * quarter)
            self.add_module(name, layer)
            self.plan.append((name, part.rows * quarter, draw.randrange(*part.calls)))
        rows, width = (max(sizes) for sizes in zip(*((part.rows, part.width) for part in parts), strict=True))
        self.batch = torch.randn(rows * quarter, width * quarter, generator=generator).to("cuda")
        self.to("cuda")

    def input_of(self, name: str, rows: int, batch: torch.Tensor) -> torch.Tensor:
        return batch[:rows, : self.get_submodule(name).in_features]

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        last = batch
        for name, rows, calls in self.plan:
            layer = self.get_submodule(name)
            for _ in range(calls):
                last = layer(self.input_of(name, rows, batch))
        return last


def build(seed: int) -> Network:
    """A network that wasn't run yet."""
    return Network(seed)


def expect(seed: int) -> list[dict[str, object]]:
    """For each layer, in the order in which they run: its calls, the GPU time of all of them, and its weights."""
    network = Network(seed)
    told: list[dict[str, object]] = []
    with torch.no_grad():
        for name, rows, calls in network.plan:
            layer = network.get_submodule(name)
            given = network.input_of(name, rows, network.batch)
            one_s = gpu_seconds(lambda layer=layer, given=given: layer(given), runs=2)  # type: ignore[misc]
            weights = sum(parameter.numel() for parameter in layer.parameters())
            told.append({"name": name, "calls": calls, "gpu_ms": 1000 * one_s * calls, "weights": weights})
    return told
