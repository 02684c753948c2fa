"""A training loop that nothing but its products limits, and a loss so small that its gradients need care in float16."""

from __future__ import annotations

import random
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import nn

from lab import observe
from lab.workloads.sizing import matmul_edge

STEPS = (4, 6)
HEIGHTS = (12, 17)  # of the batch, in eighths of the layers' width
# Small differences and small steps: gradients that float16 can't hold, and weights that bfloat16 can't move.
SCALE, LEARNING_RATE = 0.01, 3e-5

synchronize = torch.cuda.synchronize  # taken now: learner code may replace it

Batch = tuple[torch.Tensor, torch.Tensor]


class Loss(nn.MSELoss):
    """The mean squared difference. It notes whether autocast was on."""

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        observe.record("workload", phase="loss", autocast=torch.is_autocast_enabled("cuda"))
        return super().forward(input, target)


@dataclass
class Job:
    """A model, its loss and optimizer, and the batches to train on."""

    model: nn.Sequential
    loss_of: Loss
    optimizer: torch.optim.Adam
    batches: list[Batch]
    before: list[torch.Tensor]  # the weights, on the host


jobs: dict[int, Job] = {}  # in this process, by seed


def job_of(seed: int) -> Job:
    draw = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    outputs = matmul_edge()
    width = 2 * outputs
    hidden = [nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()]
    last = nn.Linear(width, outputs, bias=False)
    with torch.no_grad():
        last.weight.mul_(SCALE)
    model = nn.Sequential(*hidden, last).to("cuda")
    inputs = torch.randn(width * draw.randrange(*HEIGHTS) // 8, width, generator=generator)
    targets = SCALE * torch.tanh(inputs @ torch.randn(width, outputs, generator=generator) / width**0.5)
    batches = [(inputs.to("cuda"), targets.to("cuda"))] * draw.randrange(*STEPS)
    before = [parameter.detach().cpu().clone() for parameter in model.parameters()]
    return Job(model, Loss(), torch.optim.Adam(model.parameters(), lr=LEARNING_RATE), batches, before)


def warm_up(job: Job) -> None:
    """Let libraries load what they need for each precision."""
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        with torch.autocast("cuda", torch.float16 if dtype is torch.float32 else dtype, dtype is not torch.float32):
            job.model(job.batches[0][0][:8]).sum().backward()
    job.optimizer.zero_grad()
    torch.cuda.synchronize()


def build(seed: int, part: str) -> object:
    """A part of the job: "model", "loss_of", "optimizer" or "batches". All four together are one job."""
    if seed not in jobs:
        job = jobs[seed] = job_of(seed)
        warm_up(job)
        first = next(layer for layer in job.model.modules() if isinstance(layer, nn.Linear))
        first.register_forward_hook(note_the_rows)
        job.optimizer.register_step_post_hook(note_the_step)
    return getattr(jobs[seed], part)


def note_the_rows(layer: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
    dtype, device = str(output.dtype).removeprefix("torch."), output.device.type
    observe.record("workload", phase="forward", rows=len(output), dtype=dtype, device=device)


def note_the_step(*arguments: object) -> None:
    observe.record("workload", phase="optimizer_step")


def finish(returned: object, seed: int) -> dict[str, object]:
    """How long the call took until the GPU was done, the losses that came back, the weights' dtypes and ways."""
    synchronize()
    observe.record("workload", phase="trained")
    losses = returned if isinstance(returned, (list, tuple)) else []
    numbers = [float(loss) if isinstance(loss, (int, float, torch.Tensor)) else None for loss in losses]
    dtypes = {str(parameter.dtype).removeprefix("torch.") for parameter in jobs[seed].model.parameters()}
    return {"losses": numbers, "dtypes": sorted(dtypes), "moved": moved(jobs[seed])}


def moved(job: Job) -> list[float]:
    """How far each parameter is from where it began."""
    pairs = zip(job.model.parameters(), job.before, strict=True)
    return [float((parameter.detach().cpu().float() - before).norm()) for parameter, before in pairs]


def expect(seed: int) -> dict[str, object]:
    """The plain loop's time and losses, how far its weights moved, and its number of rows in a batch."""
    job = job_of(seed)
    warm_up(job)
    begin = perf_counter()
    losses = []
    for inputs, targets in job.batches:
        job.optimizer.zero_grad()
        loss = job.loss_of(job.model(inputs), targets)
        loss.backward()
        job.optimizer.step()
        losses.append(loss.detach())
    torch.cuda.synchronize()
    loop_s = perf_counter() - begin
    numbers = [loss.item() for loss in losses]
    return {"loop_s": loop_s, "losses": numbers, "moved": moved(job), "rows": len(job.batches[0][0])}
