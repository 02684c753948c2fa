"""A training step whose peak memory is to be found, after something larger was in memory."""

from __future__ import annotations

import random

import torch
from torch import nn

from lab import observe

MIB = 2**20
FEATURES, CLASSES, ROWS_PER_MIB = 32, 10, 256  # a row of 1024 hidden values is 4 KiB


class StepWithAPeak:
    """One step of training a network with a wide hidden layer. Activations and gradients are freed before it ends."""

    def __init__(self, seed: int, activations_mib: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        rows = activations_mib * ROWS_PER_MIB
        self.model = nn.Sequential(nn.Linear(FEATURES, 1024), nn.ReLU(), nn.Linear(1024, CLASSES)).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.inputs = torch.randn(rows, FEATURES, generator=generator).to("cuda")
        self.labels = torch.randint(0, CLASSES, (rows,), generator=generator).to("cuda")
        self.peak_bytes = 0
        self.kept_bytes = 0
        self.earlier_peak_bytes = 0
        self.reserved_bytes = 0

    def __call__(self) -> None:
        observe.record(
            "workload",
            phase="begin",
            peak_bytes=self.peak_bytes,
            kept_bytes=self.kept_bytes,
            earlier_peak_bytes=self.earlier_peak_bytes,
            cache_emptied=reserved_bytes() < self.reserved_bytes,
        )
        self.train()
        observe.record("workload", phase="end")

    def train(self) -> None:
        loss = nn.functional.cross_entropy(self.model(self.inputs), self.labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


def build(seed: int, activations_mib: int | None = None) -> StepWithAPeak:
    """A step that ran before, so that only its own peak is new, and a larger peak left in the counters."""
    draw = random.Random(seed)
    step = StepWithAPeak(seed, activations_mib or draw.randrange(8, 25))
    step.train()  # libraries allocate their workspaces at the first call
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    step.train()
    torch.cuda.synchronize()
    step.peak_bytes = torch.cuda.max_memory_allocated()
    step.kept_bytes = torch.cuda.memory_allocated()

    earlier = torch.empty(2 * step.peak_bytes - step.kept_bytes, dtype=torch.uint8, device="cuda")
    step.earlier_peak_bytes = torch.cuda.memory_allocated()
    del earlier
    step.reserved_bytes = reserved_bytes()
    return step


def reserved_bytes() -> int:
    """What the caching allocator holds, in use or not."""
    return int(torch.cuda.memory_stats()["reserved_bytes.all.current"])
