"""A training step to time or to profile, whose first call does work that later calls needn't repeat."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import nn
from torch.profiler import record_function

from lab import observe
from lab.workloads.sizing import gpu_seconds, matmul_edge

SPLITS = (1, 2, 4, 8)  # parts that the first call tries to cut the batch into
TRIALS = 3  # times that it tries each
EVALUATE_EVERY = 4
VALIDATION_BATCHES = 8


class TrainingStep:
    """One step of training a small network: forward, loss, backward, optimizer.

    The first call also tries several ways to cut the batch into parts and keeps the fastest, once, as
    cuDNN's autotuner does with its algorithms. With `evaluates`, every fourth call also looks at the validation data.
    With `reads_loss`, a call ends by reading the loss, so it returns when the GPU has finished.
    """

    def __init__(self, seed: int, reads_loss: bool, evaluates: bool) -> None:
        draw = random.Random(seed)
        edge = matmul_edge()
        generator = torch.Generator().manual_seed(seed)
        layers = [layer for _ in range(draw.randrange(4, 7)) for layer in (nn.Linear(edge, edge), nn.ReLU())]
        self.model = nn.Sequential(*layers, nn.Linear(edge, 10)).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.inputs = torch.randn(edge, edge, generator=generator).to("cuda")
        self.labels = torch.randint(0, 10, (edge,), generator=generator).to("cuda")
        self.reads_loss = reads_loss
        self.evaluates = evaluates
        self.evaluates_at = draw.randrange(2, 2 + EVALUATE_EVERY) % EVALUATE_EVERY
        self.splits = 0
        self.calls = 0

    def __call__(self) -> float | torch.Tensor:
        self.calls += 1
        observe.record("workload", phase="begin", call=self.calls)
        if not self.splits:
            with record_function("choose_splits"):
                self.splits = self.choose_splits()
        with record_function("train_step"):
            loss = self.train()
        if self.evaluates and self.calls > 1 and self.calls % EVALUATE_EVERY == self.evaluates_at:
            self.evaluate()
        result = loss.item() if self.reads_loss else loss.detach()
        observe.record("workload", phase="end", call=self.calls)
        return result

    def choose_splits(self) -> int:
        """Time the forward pass for each number of parts, return the fastest."""

        def forward_in(splits: int) -> Callable[[], object]:
            return lambda: self.forward(splits)

        with torch.no_grad():
            return min(SPLITS, key=lambda splits: gpu_seconds(forward_in(splits), runs=TRIALS))

    def forward(self, splits: int) -> torch.Tensor:
        return torch.cat([self.model(part) for part in self.inputs.chunk(splits)])

    def train(self) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.forward(self.splits), self.labels)
        loss.backward()
        self.optimizer.step()
        return loss

    def evaluate(self) -> None:
        with torch.no_grad():
            for _ in range(VALIDATION_BATCHES):
                self.model(self.inputs)


def build(seed: int, reads_loss: bool = True, evaluates: bool = True) -> TrainingStep:
    """A step that wasn't called yet."""
    return TrainingStep(seed, reads_loss, evaluates)
