"""Short training loops: in some the GPU waits for batches, in others the batches wait for the GPU."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from lab import observe
from lab.gpu import wait
from lab.workloads.sizing import gpu_seconds, matmul_edge

BATCHES, BATCH_SIZES, PIXELS = 5, (2, 4), 64
LAYERS = (6, 8)
# How long reading a batch takes, in steps of the GPU. Both ranges are far from 1, where neither side would be
# the bottleneck; the slow one keeps the GPU busy for more than a third and less than half of the time.
SLOW_READS, QUICK_READS = (2.3, 2.7), (0.2, 0.3)


class Images(Dataset[tuple[torch.Tensor, int]]):
    """Images that take a while to read, as from a disk or over a network."""

    def __init__(self, count: int, read: Callable[[], None], seed: int) -> None:
        self.pixels = torch.randn(count, PIXELS, generator=torch.Generator().manual_seed(seed))
        self.read = read

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        self.read()
        return self.pixels[index], index % 10


class TrainingLoop:
    """A loop over a few batches. Call it to run all of it, or go through it yourself:

    for images, labels in train.batches():
        train.step(images, labels)

    `batches` hands out what the loader reads, copied to the GPU. `step` trains on one batch and doesn't wait for
    the GPU.
    """

    __slots__ = ("loader", "model", "optimizer")

    def __init__(self, loader: DataLoader[tuple[torch.Tensor, int]], layers: int) -> None:
        edge = matmul_edge()
        hidden = [layer for _ in range(layers) for layer in (nn.Linear(edge, edge), nn.ReLU())]
        self.model = nn.Sequential(*hidden, nn.Linear(edge, 10)).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.loader = loader

    def __call__(self) -> None:
        for images, labels in self.batches():
            self.step(images, labels)

    def batches(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for images, labels in self.loader:
            yield images.to("cuda"), labels.to("cuda")

    def step(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        observe.record("workload", phase="step")
        return train_on(self.model, self.optimizer, images, labels)


def train_on(
    model: nn.Module, optimizer: torch.optim.Optimizer, images: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """One step on many crops of each image: the model sees as many rows in a step, whatever the batch size."""
    edge = matmul_edge()
    times = edge // len(images)
    optimizer.zero_grad()
    scores = model(images.repeat(times, edge // PIXELS))
    loss = nn.functional.cross_entropy(scores, labels.repeat(times))
    loss.backward()
    optimizer.step()
    return loss.detach()


def build(seed: int, slow_reads: bool | None = None, batch_size: int | None = None) -> TrainingLoop:
    """A loop whose loader is slow or quick in comparison with this GPU. The seed decides what isn't given."""
    slow_reads, reads, layers, drawn_size = draws(seed, slow_reads)
    size = batch_size or drawn_size
    train = TrainingLoop(loader_of(size, lambda: None, seed), layers)
    images, labels = (batch.to("cuda") for batch in next(iter(train.loader)))
    step_s = gpu_seconds(lambda: train_on(train.model, train.optimizer, images, labels), runs=2)
    train.loader = loader_of(size, waiting(reads * step_s / size), seed)
    return train


def expect(seed: int, slow_reads: bool | None = None, batch_size: int | None = None) -> dict[str, float | str]:
    """Which side is the bottleneck, and the share of the loop's time in which the GPU works."""
    slow_reads, reads, _, _ = draws(seed, slow_reads)
    # The GPU works on a step while the loader reads the next batch.
    return {"bottleneck": "input" if slow_reads else "compute", "share_busy": min(1.0, 1 / reads)}


def draws(seed: int, slow_reads: bool | None) -> tuple[bool, float, int, int]:
    """Whether reading is slow, how long it takes in steps, how many layers there are, and the batch size."""
    draw = random.Random(seed)
    slow = draw.random() < 0.5
    slow = slow if slow_reads is None else slow_reads
    return slow, draw.uniform(*(SLOW_READS if slow else QUICK_READS)), draw.randrange(*LAYERS), draw.choice(BATCH_SIZES)


def loader_of(size: int, read: Callable[[], None], seed: int) -> DataLoader[tuple[torch.Tensor, int]]:
    return DataLoader(Images(BATCHES * size, read, seed), batch_size=size)


def waiting(seconds: float) -> Callable[[], None]:
    """A function that waits for so long. Like a drive's, its speed is not written anywhere: it has to be measured."""

    def read() -> None:
        wait(seconds)

    return read
