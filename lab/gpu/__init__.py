"""Which GPU this process works on: a real one, or the simulated one where there is none."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Literal

from lab.language import _

CHOICES = ("auto", "simulated", "real")


@dataclass(frozen=True)
class Gpu:
    """The GPU in use."""

    kind: Literal["real", "simulated"]
    name: str
    memory_bytes: int


class GpuUnavailable(RuntimeError):
    """The GPU that was asked for can't be had."""


in_use: Gpu | None = None


def use() -> Gpu:
    """Pick the GPU, once per process, before any learner code is loaded.

    PROFILE_FIRST_GPU decides: `auto` (the default) takes a real GPU if torch has one and the simulated one otherwise,
    `simulated` and `real` insist. The simulated GPU changes torch and time in this process for good.
    Raises GpuUnavailable if `real` is asked for and there is none, ValueError for another value.
    """
    global in_use
    if in_use is not None:
        return in_use
    choice = os.environ.get("PROFILE_FIRST_GPU", "auto") or "auto"
    if choice not in CHOICES:
        raise ValueError(
            _("PROFILE_FIRST_GPU is {choice!r}; it can be {choices}.", choice=choice, choices=", ".join(CHOICES))
        )
    # Without these the first profile of a process prints lines that a learner takes for an error of their own.
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")

    import torch

    from lab import observe

    has_gpu = choice != "simulated" and torch.cuda.is_available()
    if choice == "real" and not has_gpu:
        raise GpuUnavailable(
            _(
                "PROFILE_FIRST_GPU=real, but torch sees no GPU: torch.cuda.is_available() is False. "
                "Check the driver and that this torch is a CUDA or ROCm build, or unset PROFILE_FIRST_GPU "
                "to use the simulated GPU."
            )
        )
    if has_gpu:
        properties = torch.cuda.get_device_properties(0)
        in_use = Gpu("real", properties.name, properties.total_memory)
    else:
        from lab.gpu import simulated
        from lab.gpu.device import card

        simulated.install()
        in_use = Gpu("simulated", card.name, card.memory_bytes)
    observe.install(in_use.kind == "simulated")
    return in_use


def wait(seconds: float) -> None:
    """Let the host wait for something outside, as for a disk or over a network.

    With the simulated GPU that takes no real time, as the waits for the GPU itself don't, unless another thread or
    process could use it.
    """
    if in_use is not None and in_use.kind == "simulated":
        from lab.gpu.dispatch import host_waits

        host_waits(seconds)
    else:
        time.sleep(seconds)
