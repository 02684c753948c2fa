"""A training step of four phases, and where in a profile the work of each phase lies among the labels."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from torch._C._autograd import DeviceType
from torch.profiler import profile

from lab import observe

BATCHES = 4
LAYERS = (2, 5)
ROWS, WIDTH = 96, 128
PHASES = ("data", "forward", "backward", "optimizer")
events_of = profile.events  # taken now: a class derived from it may tell others


class Network(nn.Module):
    """A few layers, and the number of forward passes so far."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        hidden = [layer for _ in range(layers) for layer in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
        self.layers = nn.Sequential(*hidden, nn.Linear(WIDTH, 10))
        self.calls = 0

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        observe.record("workload", phase="begin", call=self.calls)
        scores: torch.Tensor = self.layers(images)
        return scores


class Training:
    """What a training step needs: `model` and `optimizer`, and `batches` that wait on the host."""

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        torch.manual_seed(seed)
        self.model = Network(random.Random(seed).randrange(*LAYERS)).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.5)
        self.batches = [
            (torch.randn(ROWS, WIDTH, generator=generator), torch.randint(0, 10, (ROWS,), generator=generator))
            for _ in range(BATCHES)
        ]


built: list[Training] = []  # in this process, for finish()


def build(seed: int) -> Training:
    """A model that wasn't trained yet, its optimizer, and a few batches."""
    built.append(Training(seed))
    return built[-1]


def finish(returned: object, seed: int) -> dict[str, Any]:
    """How often the model ran, what its weights have become, and what the labels of the profile hold."""
    model = built.pop().model
    told: dict[str, Any] = {"calls": model.calls, "weight": weight_of(model.parameters())}
    if isinstance(returned, profile) and returned.profiler is not None:  # it has recorded something
        told |= told_by_labels(returned)
    return told


def expect(seed: int) -> dict[str, list[float]]:
    """The weights before training and after each batch."""
    training = Training(seed)
    weights = [weight_of(training.model.parameters())]
    for images, labels in training.batches:
        loss = nn.functional.cross_entropy(training.model(images.to("cuda")), labels.to("cuda"))
        training.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(training.model.parameters(), 1.0)
        training.optimizer.step()
        weights.append(weight_of(training.model.parameters()))
    return {"weights": weights}


def weight_of(weights: Iterable[torch.Tensor]) -> float:
    """One number that training changes, of weights or of their changes."""
    on_host = [weight.detach().double().cpu() for weight in weights]
    return sum(float((weight * torch.arange(weight.numel()).view_as(weight)).sum()) for weight in on_host)


def told_by_labels(prof: profile) -> dict[str, Any]:
    """The program's labels with those around them; and for each phase, how many kernels ran under which labels."""
    events = sorted(events_of(prof), key=lambda event: (event.time_range.start, -event.time_range.end))
    on_host = [event for event in events if event.device_type == DeviceType.CPU]
    labels = [event for event in on_host if is_label(event)]
    work: Counter[tuple[str, tuple[str, ...]]] = Counter()
    phase = ""
    for event in on_host:
        if event.kernels:
            phase = phase_of(event, phase)
            work[phase, tuple(around(event, labels))] += len(event.kernels)
    return {
        "labels": [{"name": label.name, "inside": around(label, labels)} for label in labels],
        "work": [{"phase": phase, "labels": list(names), "kernels": count} for (phase, names), count in work.items()],
    }


def is_label(event: Any) -> bool:
    """Whether the program itself named this region; PyTorch names its optimizers' calls."""
    return bool(event.is_user_annotation) and not event.name.startswith(("Optimizer.", "ProfilerStep"))


def around(event: Any, labels: list[Any]) -> list[str]:
    """The labels that were open when this began, by time: on a GPU, backward runs on a thread of its own."""
    began = event.time_range.start
    return [
        label.name for label in labels if label is not event and label.time_range.start <= began < label.time_range.end
    ]


def phase_of(event: Any, before: str) -> str:
    """Which part of a training step launched this: they come one after another."""
    if any("HtoD" in kernel.name for kernel in event.kernels):
        return "data"
    if is_backward(event):
        return "backward"
    return {"": "forward", "data": "forward", "backward": "optimizer"}.get(before, before)


def is_backward(event: Any) -> bool:
    """Whether autograd ran this, or backward() made it to begin with: the gradient of the loss, a one."""
    while event is not None:
        if event.name.startswith(("autograd::engine", "aten::ones_like")):
            return True
        event = event.cpu_parent
    return False
