"""A training step to time or to profile, whose first call does work that later calls needn't repeat."""

from __future__ import annotations

import random
from statistics import median

import torch
from torch import nn
from torch.profiler import record_function

from lab import observe
from lab.workloads.sizing import gpu_seconds, matmul_edge

SPLITS = (1, 2, 4, 8)  # parts that the first call tries to cut the batch into
EVALUATE_EVERY = 5
LENGTHS = (16, 14, 12, 10)  # of batches, in sixteenths of the longest
# What the seed decides apart from one another, so that no number tells another one.
LAYERS = (4, 7)
HEIGHTS = (8, 21)  # of the batch, in eighths of its width
TRIALS = (2, 6)  # how often the first call tries each way
VALIDATION_BATCHES = (6, 16)
RUNS = 3  # of what is measured for a length that stands alone


class TrainingStep:
    """One step of training a small network: forward, loss, backward, optimizer.

    The first call also tries several ways to cut the batch into parts and keeps the fastest, once, as
    cuDNN's autotuner does with its algorithms. With `varies`, batches have different lengths, and every fifth call
    also looks at the validation data. With `reads_loss`, a call ends by reading the loss, so it returns when the GPU
    has finished.
    """

    def __init__(self, seed: int, reads_loss: bool, varies: bool) -> None:
        draw = random.Random(seed)
        edge = matmul_edge()
        rows = edge * draw.randrange(*HEIGHTS) // 8
        generator = torch.Generator().manual_seed(seed)
        layers = [layer for _ in range(draw.randrange(*LAYERS)) for layer in (nn.Linear(edge, edge), nn.ReLU())]
        self.model = nn.Sequential(*layers, nn.Linear(edge, 10)).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.inputs = torch.randn(rows, edge, generator=generator).to("cuda")
        self.labels = torch.randint(0, 10, (rows,), generator=generator).to("cuda")
        self.trials = draw.randrange(*TRIALS)
        self.validation_batches = draw.randrange(*VALIDATION_BATCHES)
        self.reads_loss = reads_loss
        self.varies = varies
        self.evaluates_at = draw.randrange(2, 2 + EVALUATE_EVERY) % EVALUATE_EVERY
        self.lengths = [rows * part // 16 for part in draw.sample(LENGTHS, len(LENGTHS))] if varies else [rows]
        self.splits = 0
        self.calls = 0

    def __call__(self) -> float | torch.Tensor:
        self.calls += 1
        observe.record("workload", phase="begin", call=self.calls)
        if not self.splits:
            with record_function("choose_splits"):
                self.splits = self.choose_splits()
        with record_function("train_step"):
            loss = self.train(self.lengths[self.calls % len(self.lengths)])
        if self.varies and self.calls > 1 and self.calls % EVALUATE_EVERY == self.evaluates_at:
            self.evaluate()
        result = loss.item() if self.reads_loss else loss.detach()
        observe.record("workload", phase="end", call=self.calls)
        return result

    def choose_splits(self) -> int:
        """Time the forward pass for each number of parts, return the fastest."""
        return min(SPLITS, key=lambda splits: gpu_seconds(lambda: self.try_splits(splits), runs=self.trials))

    def try_splits(self, splits: int) -> None:
        with torch.no_grad():
            self.forward(self.inputs, splits)

    def forward(self, inputs: torch.Tensor, splits: int) -> torch.Tensor:
        return torch.cat([self.model(part) for part in inputs.chunk(splits)])

    def train(self, length: int) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.forward(self.inputs[:length], self.splits), self.labels[:length])
        loss.backward()
        self.optimizer.step()
        return loss

    def evaluate(self) -> None:
        with torch.no_grad():
            for _ in range(self.validation_batches):
                self.model(self.inputs)


def build(seed: int, reads_loss: bool = True, varies: bool = True) -> TrainingStep:
    """A step that wasn't called yet."""
    return TrainingStep(seed, reads_loss, varies)


def expect(seed: int, reads_loss: bool = True, varies: bool = True) -> dict[str, float]:
    """How long the GPU needs for what the first call does beside training, for a warm step, and for evaluating."""
    step = TrainingStep(seed, reads_loss, varies)
    step.splits = step.choose_splits()
    # Each trial is queued behind another one that isn't timed.
    trying_s = sum(gpu_seconds(lambda splits=splits: step.try_splits(splits)) for splits in SPLITS)  # type: ignore[misc]
    # A single one is made longer by whatever else the machine does meanwhile; of several, the median isn't.
    runs = 1 if len(step.lengths) > 1 else RUNS
    steps_s = [gpu_seconds(lambda length=length: step.train(length), runs) for length in step.lengths]  # type: ignore[misc]
    return {
        "choosing_s": 2 * step.trials * trying_s,
        "step_s": median(steps_s),
        "evaluating_s": gpu_seconds(step.evaluate) if varies else 0.0,
    }
