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
        self.model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10)).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.rows = torch.randn(ROWS, WIDTH, generator=generator)
        self.labels = torch.randint(0, 10, (ROWS,), generator=generator)
        self.count = random.Random(seed).randrange(*STEPS)
        self.calls = 0

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


folders: list[Path] = []  # of this process, for finish(): where relative paths began before learner code ran


def build(seed: int, folder: str = "traces") -> TracedLoop:
    """A loop of which nothing has run yet. The folder for the traces isn't there."""
    folders.append(Path(folder).absolute())
    return TracedLoop(seed)


def finish(returned: object, seed: int, folder: str = "traces") -> list[dict[str, Any]]:
    """What the traces in the folder hold."""
    place = folders.pop()
    return [told_of(file) for file in sorted(place.glob("*")) if file.name.endswith((".json", ".json.gz"))]


def expect(seed: int, folder: str = "traces") -> dict[str, int]:
    """How many steps the loop has."""
    return {"steps": random.Random(seed).randrange(*STEPS)}


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
