"""A training loop with two problems, to be run as it is and after each of two changes, while the lab measures too."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

import lab.gpu
from lab import observe

WIDTH, CLASSES = 256, 10
STEPS, IMAGES = (4, 7), (14, 21)
LOG_S = (0.004, 0.006)  # one call of log() waits so long for a disk, however many values it writes

Batch = tuple[torch.Tensor, torch.Tensor]
Log = Callable[[float | Iterable[float]], None]
Loop = Callable[[nn.Module, torch.optim.Optimizer, list[Batch], Log], Iterable[Any]]


class Job:
    """A model to train on a few batches, again and again from the same weights."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        generator = torch.Generator().manual_seed(seed)
        torch.manual_seed(seed)
        steps, images, log_s = draw.randrange(*STEPS), draw.randrange(*IMAGES), draw.uniform(*LOG_S)
        layers = [nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, CLASSES)]
        self._model = nn.Sequential(*layers).to("cuda")
        self._batches = [
            (
                torch.randn(images, WIDTH, generator=generator).to("cuda"),
                torch.randint(0, CLASSES, (images,), generator=generator).to("cuda"),
            )
            for _ in range(steps)
        ]
        self._weights = [parameter.detach().clone() for parameter in self._model.parameters()]
        self._log_s = log_s
        self._model.register_forward_hook(lambda *_: observe.record("workload", phase="forward"))
        self.timed: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []
        self.losses: list[list[float | None]] = []

    def run(self, loop: Loop) -> list[float | None]:
        """Run a loop from the first weights on, return its losses."""
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        observe.record("workload", phase="run")
        begin.record()
        with torch.no_grad():
            for parameter, weights in zip(self._model.parameters(), self._weights, strict=True):
                parameter.copy_(weights)
        optimizer = torch.optim.SGD(self._model.parameters(), lr=0.1)
        losses = list(loop(self._model, optimizer, list(self._batches), self._log))
        end.record()
        observe.record("workload", phase="ran")
        self.timed.append((begin, end))
        self.losses.append([float(loss) if isinstance(loss, (int, float, torch.Tensor)) else None for loss in losses])
        return self.losses[-1]

    def _log(self, values: float | Iterable[float]) -> None:
        numbers = [float(value) for value in (values if isinstance(values, Iterable) else [values])]
        observe.record("workload", phase="log", values=len(numbers))
        lab.gpu.wait(self._log_s)


def one_by_one(model: nn.Module, optimizer: torch.optim.Optimizer, batches: list[Batch], log: Log) -> list[float]:
    """The loop as it is: the model is called for each image, and each step's loss is read and logged."""
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        parts = zip(images.split(1), labels.split(1), strict=True)
        loss = torch.stack([nn.functional.cross_entropy(model(image), label) for image, label in parts]).mean()
        loss.backward()
        optimizer.step()
        log(loss.item())
        losses.append(loss.item())
    return losses


jobs: list[Job] = []  # in this process, for finish()


def build(seed: int) -> Job:
    """A job whose loop has run once, so that what libraries do only once is done."""
    job = Job(seed)
    job.run(one_by_one)
    torch.cuda.synchronize()
    job.timed.clear()
    job.losses.clear()
    jobs.append(job)
    return job


def finish(returned: object, seed: int) -> list[dict[str, object]]:
    """For each run, how long it took until the GPU was done, and its losses."""
    torch.cuda.synchronize()
    job = jobs.pop()
    return [
        {"run_s": begin.elapsed_time(end) / 1000, "losses": losses}
        for (begin, end), losses in zip(job.timed, job.losses, strict=True)
    ]


def expect(seed: int) -> dict[str, object]:
    """The losses, the number of images in a batch, and how long the loop takes as it is."""
    job = build(seed)
    losses = job.run(one_by_one)
    ran = finish(None, seed)
    return {"losses": losses, "images": len(job._batches[0][0]), "run_s": ran[0]["run_s"]}
