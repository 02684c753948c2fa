"""A training loop whose parts can be timed one by one: loading a batch, training on it, logging the loss."""

from __future__ import annotations

import random
from collections.abc import Iterator

import torch
from torch import nn

from lab import observe
from lab.gpu import wait
from lab.workloads.sizing import gpu_seconds, matmul_edge

Batch = tuple[torch.Tensor, torch.Tensor]

BATCHES = 6
LAYERS = (3, 15)
# How long logging takes in training steps, and loading in steps and logs together. So a time tells which parts are in
# it, and no part tells how long another one takes.
LOGGING, LOADING = (1.3, 3.0), (1.3, 1.7)
FIRST, OTHERS = 1.5, 0.35  # of an epoch's batches, in loads: for the first one a file has to be opened


class Batches:
    """The batches of an epoch, in order. Loading one is waiting, as for a disk."""

    def __init__(self, batch: Batch, load_s: float, first_s: float) -> None:
        self.batch, self.load_s, self.first_s = batch, load_s, first_s

    def __len__(self) -> int:
        return BATCHES

    def __iter__(self) -> Iterator[Batch]:
        for number in range(BATCHES):
            yield load(self.batch, self.first_s if number == 0 else self.load_s)


class Loop:
    """The parts of a loop. Go through `batches`, or ask for one with `load()`; then `train(batch)` and `log(loss)`.

    `train` ends by reading the loss, so it returns when the GPU has finished.
    """

    def __init__(self, seed: int, layers: int) -> None:
        draw = random.Random(f"{seed} {layers}")
        edge = matmul_edge()
        generator = torch.Generator().manual_seed(seed)
        hidden = [layer for _ in range(layers) for layer in (nn.Linear(edge, edge), nn.ReLU())]
        self._model = nn.Sequential(*hidden, nn.Linear(edge, 10)).to("cuda")
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=0.01)
        inputs = torch.randn(edge, edge, generator=generator).to("cuda")
        self._batch = inputs, torch.randint(0, 10, (edge,), generator=generator).to("cuda")
        step_s = gpu_seconds(lambda: self._step(self._batch), runs=2)
        self._log_s = draw.uniform(*LOGGING) * step_s
        self._load_s = draw.uniform(*LOADING) * (step_s + self._log_s)
        self.batches = Batches(self._batch, self._load_s * OTHERS, self._load_s * FIRST)

    def load(self) -> Batch:
        """One batch."""
        return load(self._batch, self._load_s)

    def train(self, batch: Batch) -> float:
        """Train on this batch, return the loss."""
        observe.record("workload", part="train", phase="begin")
        loss = self._step(batch).item()
        observe.record("workload", part="train", phase="end")
        return loss

    def log(self, loss: float) -> None:
        """Send the loss to where it is kept: waiting, as for a network."""
        observe.record("workload", part="log", phase="begin")
        wait(self._log_s)
        observe.record("workload", part="log", phase="end")

    def _step(self, batch: Batch) -> torch.Tensor:
        inputs, labels = batch
        self._optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self._model(inputs), labels)
        loss.backward()
        self._optimizer.step()
        return loss.detach()


def load(batch: Batch, seconds: float) -> Batch:
    observe.record("workload", part="load", phase="begin")
    wait(seconds)
    observe.record("workload", part="load", phase="end")
    return batch


def build(seed: int, layers: int | None = None) -> Loop:
    """A loop that was used already: no part is cold. The seed decides how many layers there are, if nobody says so."""
    return Loop(seed, layers or random.Random(seed).randrange(*LAYERS))


def expect(seed: int, layers: int | None = None) -> dict[str, float]:
    """How long training on a batch takes, and loading all batches of an epoch; and how many there are."""
    loop = build(seed, layers)
    train_s = gpu_seconds(lambda: loop._step(loop._batch), runs=2)
    return {"train_s": train_s, "epoch_loads_s": loop._load_s * (FIRST + OTHERS * (BATCHES - 1)), "batches": BATCHES}
