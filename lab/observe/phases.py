"""Regions that a program or PyTorch itself names, and backward passes."""

from __future__ import annotations

from functools import wraps
from typing import Any

from lab.observe import log

PHASES = {"Optimizer.step#": "optimizer", "enumerate(DataLoader)#": "data"}


def install(torch: Any) -> None:
    observe_labels(torch)
    observe_backward(torch)


def observe_labels(torch: Any) -> None:
    """Regions named by the program. PyTorch labels its optimizers' calls and the profiler's steps itself."""
    label = torch.autograd.profiler.record_function
    make, enter, leave = label.__init__, label.__enter__, label.__exit__

    @wraps(make)
    def making(self: Any, name: Any, *args: Any, **kwargs: Any) -> None:
        make(self, name, *args, **kwargs)
        record_label("made", name)

    @wraps(enter)
    def entering(self: Any) -> Any:
        record_label("entered", self.name)
        self.entered_s = log.lab_time_s() if log.observing and phase_of(self.name) else None
        return enter(self)

    @wraps(leave)
    def leaving(self: Any, *error: Any) -> Any:
        left = leave(self, *error)
        if (entered_s := getattr(self, "entered_s", None)) is not None:
            log.record("host_phase", kind=phase_of(self.name), lasted_s=log.lab_time_s() - entered_s)
        return left

    label.__init__, label.__enter__, label.__exit__ = making, entering, leaving


def observe_backward(torch: Any) -> None:
    backward = torch.autograd.backward

    @wraps(backward)
    def going_backward(*args: Any, **kwargs: Any) -> Any:
        if not log.observing:
            return backward(*args, **kwargs)
        began_s = log.lab_time_s()
        try:
            return backward(*args, **kwargs)
        finally:
            log.record("host_phase", kind="backward", lasted_s=log.lab_time_s() - began_s)

    torch.autograd.backward = going_backward


def record_label(phase: str, name: object) -> None:
    if not str(name).startswith(("Optimizer.", "ProfilerStep#", "enumerate(DataLoader)")):
        log.record("label", phase=phase, name=str(name)[:200])


def phase_of(name: object) -> str | None:
    """What the host does while it is in a region that PyTorch names itself."""
    return next((kind for begin, kind in PHASES.items() if str(name).startswith(begin)), None)
