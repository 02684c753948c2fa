"""A training step whose activations take most of the memory, to be fitted into less without changing its result."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import torch
from torch import nn

from lab import observe

WIDTH, HIDDEN, CLASSES = 128, 512, 10
BLOCKS = (7, 10)
ROWS = (997, 1009, 1013, 1019, 1021, 1031)  # primes: parts of the batch are never all of the same size
LEARNING_RATE = 0.1
BUDGET = 0.6  # of what the plain step needs at its peak
NO_BACKWARD = -1
statistics = torch.cuda.memory_stats  # taken now: learner code may replace it
PROBES = 3  # random directions in which each parameter's change is measured


class Block(nn.Module):
    """Two layers with a wide one between them, which keeps most of the memory until backward."""

    def __init__(self) -> None:
        super().__init__()
        self.widen, self.narrow = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide: torch.Tensor = nn.functional.gelu(self.widen(x))
        return x + torch.tanh(self.narrow(wide))


class NotedSGD(torch.optim.SGD):
    """Notes when it changes the weights and when it drops the gradients."""

    def step(self, *args: object, **kwargs: object) -> None:  # type: ignore[override]
        observe.record("workload", phase="optimizer_step")
        super().step(*args, **kwargs)

    def zero_grad(self, set_to_none: bool = True) -> None:
        observe.record("workload", phase="zero_grad")
        super().zero_grad(set_to_none)


@dataclass
class Job:
    """A model, its optimizer and one batch."""

    model: nn.Sequential
    optimizer: torch.optim.SGD
    inputs: torch.Tensor
    targets: torch.Tensor
    before: list[torch.Tensor] = field(default_factory=list)  # the weights, on the host
    libraries_bytes: int = 0  # what no way to train can do without


def load_libraries() -> int:
    """Let the libraries take the workspaces that they keep; how many bytes these are (cuBLAS: up to 32 MiB each)."""
    before_bytes = torch.cuda.memory_allocated()
    nn.Linear(8, 8).to("cuda")(torch.ones(8, 8).to("cuda")).sum().backward()
    return torch.cuda.memory_allocated() - before_bytes


jobs: dict[int, Job] = {}  # in this process, by seed


def job_of(seed: int) -> Job:
    libraries_bytes = load_libraries()
    draw = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    rows = draw.choice(ROWS)
    model = nn.Sequential(*(Block() for _ in range(draw.randrange(*BLOCKS))), nn.Linear(WIDTH, CLASSES)).to("cuda")
    inputs = torch.randn(rows, WIDTH, generator=generator).to("cuda")
    targets = torch.randint(0, CLASSES, (rows,), generator=generator).to("cuda")
    job = Job(model, NotedSGD(model.parameters(), lr=LEARNING_RATE), inputs, targets, libraries_bytes=libraries_bytes)
    job.before = [parameter.detach().cpu().clone() for parameter in model.parameters()]
    return job


def build(seed: int, part: str) -> object:
    """A part of the job: "model", "optimizer", "inputs" or "targets". Asked for all four, one gets the same job's."""
    if seed not in jobs:
        jobs[seed] = job_of(seed)
        first = next(layer for layer in jobs[seed].model.modules() if isinstance(layer, nn.Linear))
        first.register_forward_hook(note_the_rows)
        first.weight.register_post_accumulate_grad_hook(note_the_gradient)
        torch.cuda.reset_peak_memory_stats()
    return getattr(jobs[seed], part)


def note_the_rows(layer: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
    observe.record(
        "workload",
        phase="forward",
        rows=len(output),
        dtype=str(output.dtype).removeprefix("torch."),
        device=output.device.type,
        in_backward=torch._C._current_graph_task_id() != NO_BACKWARD,
    )


def note_the_gradient(parameter: torch.Tensor) -> None:
    observe.record("workload", phase="gradient")


def finish(returned: object, seed: int) -> dict[str, object]:
    """The peak since the job was built, the loss that came back, and what the step did to the weights."""
    job = jobs[seed]
    peak_bytes = statistics()["allocated_bytes.all.peak"]
    loss = float(returned) if isinstance(returned, (int, float, torch.Tensor)) else None
    return {"peak_bytes": peak_bytes, "loss": loss, "changes": changes(job)}


def changes(job: Job) -> list[dict[str, object]]:
    """For each parameter, how far it moved, and how far in some random directions."""
    generator = torch.Generator().manual_seed(len(job.before))
    told: list[dict[str, object]] = []
    for before, parameter in zip(job.before, job.model.parameters(), strict=True):
        change = (parameter.detach().cpu().float() - before).flatten().double()
        probes = torch.randn(PROBES, change.numel(), generator=generator, dtype=torch.float64)
        told.append({"norm": float(change.norm()), "along": (probes @ change).tolist()})
    return told


def expect(seed: int) -> dict[str, object]:
    """The same numbers for the plain step on the whole batch, with the rows of the batch and the budget."""
    job = job_of(seed)
    torch.cuda.reset_peak_memory_stats()
    loss = nn.functional.cross_entropy(job.model(job.inputs), job.targets)
    loss.backward()
    job.optimizer.step()
    peak_bytes = torch.cuda.max_memory_allocated()
    return {
        "peak_bytes": peak_bytes,
        "budget_bytes": job.libraries_bytes + BUDGET * (peak_bytes - job.libraries_bytes),
        "loss": loss.item(),
        "changes": changes(job),
        "rows": len(job.inputs),
    }
