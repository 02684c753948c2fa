"""Short training loops: in some the GPU waits for batches, in others the batches wait for the GPU."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from lab import observe
from lab.workloads.sizing import gpu_seconds, matmul_edge

BATCHES, BATCH_SIZE, PIXELS = 5, 4, 64
# How long reading a batch takes, in steps of the GPU. Both ranges are far from 1, where neither side would be
# the bottleneck; the slow one keeps the GPU busy for more than a third and less than half of the time.
SLOW_READS, QUICK_READS = (2.3, 2.8), (0.1, 0.25)


class Images(Dataset[tuple[torch.Tensor, int]]):
    """Images that take a while to read, as from a disk or over a network."""

    def __init__(self, count: int, read_s: float, seed: int) -> None:
        self.pixels = torch.randn(count, PIXELS, generator=torch.Generator().manual_seed(seed))
        self.read_s = read_s

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        time.sleep(self.read_s)
        return self.pixels[index], index % 10


class TrainingLoop:
    """A loop over a few batches. Call it to run all of it, or go through it yourself:

    for images, labels in train.batches():
        train.step(images, labels)

    `batches` hands out what the loader reads, copied to the GPU. `step` trains on one batch and doesn't wait for
    the GPU.
    """

    def __init__(self, seed: int, width: int) -> None:
        edge = matmul_edge()
        hidden = [layer for _ in range(width) for layer in (nn.Linear(edge, edge), nn.ReLU())]
        self.model = nn.Sequential(*hidden, nn.Linear(edge, 10)).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        # Each image is seen so many times in a step, and its pixels are repeated to fill a row.
        self.repeats = (edge // BATCH_SIZE, edge // PIXELS)
        self.loader = DataLoader(Images(BATCHES * BATCH_SIZE, 0.0, seed), batch_size=BATCH_SIZE)
        self.share_busy = 0.0

    def __call__(self) -> None:
        for images, labels in self.batches():
            self.step(images, labels)

    def batches(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for images, labels in self.loader:
            yield images.to("cuda"), labels.to("cuda")

    def step(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        observe.record("workload", phase="step", share_busy=self.share_busy)
        return self.train_on(images, labels)

    def train_on(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        crops = images.repeat(*self.repeats)
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(crops), labels.repeat(self.repeats[0]))
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def build(seed: int, slow_reads: bool) -> TrainingLoop:
    """A loop whose loader is slow or quick in comparison with this GPU."""
    draw = random.Random(seed)
    loop = TrainingLoop(seed, width=draw.randrange(6, 9))
    images = torch.ones(BATCH_SIZE, PIXELS, device="cuda")
    labels = torch.zeros(BATCH_SIZE, dtype=torch.int64, device="cuda")
    step_s = gpu_seconds(lambda: loop.train_on(images, labels), runs=2)
    reads = draw.uniform(*(SLOW_READS if slow_reads else QUICK_READS))
    loop.loader = DataLoader(Images(BATCHES * BATCH_SIZE, reads * step_s / BATCH_SIZE, seed), batch_size=BATCH_SIZE)
    loop.share_busy = min(1.0, 1 / reads)  # the GPU works on a step while the loader reads the next batch
    return loop
