"""A training loop with two problems, to be run as it is and after each of two changes, while the lab measures too."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

import lab.gpu
from lab import observe
from lab.workloads.labelled_step import weight_of

WIDTH, CLASSES = 256, 10
STEPS, IMAGES = (4, 7), (14, 21)
LOG_S = (0.004, 0.006)  # one call of log() waits so long for a disk, however many values it writes

Batch = tuple[torch.Tensor, torch.Tensor]
Log = Callable[[float | Iterable[float]], None]
Loop = Callable[[nn.Module, torch.optim.Optimizer, list[Batch], Log], Iterable[Any]]


@dataclass
class Run:
    """What is known of one run of a loop."""

    begin: torch.cuda.Event
    end: torch.cuda.Event
    losses: list[float | None]
    changes: list[torch.Tensor]  # of the weights


runs: list[Run] = []  # in this process, for finish()


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
        # Of the first layer: also of a model that is called as model.forward(images), or layer by layer.
        self._model[0].register_forward_hook(lambda *_: observe.record("workload", phase="forward"))

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
        numbers = [float(loss) if isinstance(loss, (int, float, torch.Tensor)) else None for loss in losses]
        pairs = zip(self._model.parameters(), self._weights, strict=True)
        runs.append(Run(begin, end, numbers, [parameter.detach() - weights for parameter, weights in pairs]))
        return numbers

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


def build(seed: int) -> Job:
    """A job whose loop has run once, so that what libraries do only once is done."""
    job = Job(seed)
    job.run(one_by_one)
    torch.cuda.synchronize()
    runs.clear()
    return job


def finish(returned: object, seed: int) -> list[dict[str, object]]:
    """For each run, how long it took until the GPU was done, its losses, and the change of its weights."""
    torch.cuda.synchronize()
    observe.record("workload", phase="finished")
    return [
        {"run_s": run.begin.elapsed_time(run.end) / 1000, "losses": run.losses, "change": weight_of(run.changes)}
        for run in runs
    ]


def expect(seed: int) -> dict[str, object]:
    """The same for the loop as it is, with the number of images in a batch."""
    job = build(seed)
    job.run(one_by_one)
    return {**finish(None, seed)[0], "images": len(job._batches[0][0])}
