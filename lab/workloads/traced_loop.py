"""A training loop to record a few steps of, and what the traces that came of it hold."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.profiler import record_function

from lab import observe
from lab.workloads.labelled_step import weight_of

STEPS = (14, 18)  # two cycles of a plan for six steps, and part of a third
ROWS, WIDTH = 128, 128
Batch = tuple[torch.Tensor, torch.Tensor]


class TracedLoop:
    """A loop to go through yourself:

    for batch in train.batches():
        train.step(batch)

    `step` trains on one batch and doesn't wait for the GPU.
    """

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        torch.manual_seed(seed)
        self.model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10)).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.rows = torch.randn(ROWS, WIDTH, generator=generator)
        self.labels = torch.randint(0, 10, (ROWS,), generator=generator)
        self.count = random.Random(seed).randrange(*STEPS)
        self.calls = 0
        self.weights = list(self.model.parameters())
        self.before = [weight.detach().clone() for weight in self.weights]

    def change(self) -> float:
        """How far training has taken the weights, as one number."""
        pairs = zip(self.weights, self.before, strict=True)
        return weight_of(weight.detach() - before for weight, before in pairs)

    def batches(self) -> Iterator[Batch]:
        for _ in range(self.count):
            yield self.rows.to("cuda"), self.labels.to("cuda")

    def step(self, batch: Batch) -> torch.Tensor:
        self.calls += 1
        observe.record("workload", phase="begin", call=self.calls)
        images, labels = batch
        with record_function("train_step"):
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.model(images), labels)
            loss.backward()
            self.optimizer.step()
        return loss.detach()


# Of this process, for finish(): the loop, and where relative paths began before learner code ran.
built: list[tuple[TracedLoop, Path]] = []


def build(seed: int, folder: str = "traces") -> TracedLoop:
    """A loop of which nothing has run yet. The folder for the traces isn't there."""
    loop = TracedLoop(seed)
    built.append((loop, Path(folder).absolute()))
    return loop


def finish(returned: object, seed: int, folder: str = "traces") -> dict[str, Any]:
    """What the traces in the folder hold, and how the weights have changed."""
    loop, place = built.pop()
    traces = [told_of(file) for file in sorted(place.glob("*")) if file.name.endswith((".json", ".json.gz"))]
    return {"traces": traces, "change": loop.change()}


def expect(seed: int, folder: str = "traces") -> dict[str, float]:
    """How many steps the loop has, and how they change the weights."""
    loop = TracedLoop(seed)
    for batch in loop.batches():
        loop.step(batch)
    return {"steps": loop.calls, "change": loop.change()}


def told_of(file: Path) -> dict[str, Any]:
    """How many steps and kernels are in a trace."""
    try:
        packed = file.read_bytes()
        text = gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed
        events = json.loads(text, strict=False)["traceEvents"]
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        return {"name": file.name, "error": f"{type(error).__name__}: {error}"[:200]}
    kinds = [(event.get("cat"), event.get("name")) for event in events if event.get("ph") == "X"]
    return {
        "name": file.name,
        "steps": kinds.count(("user_annotation", "train_step")),
        "kernels": sum(kind == "kernel" for kind, _ in kinds),
    }
