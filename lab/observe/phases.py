"""What the host is at: calls of modules, backward passes, optimizers, loading data, regions that a program names."""

from __future__ import annotations

import threading
from functools import wraps
from typing import Any

from lab.observe import log

PHASES = {"Optimizer.step#": "optimizer", "enumerate(DataLoader)#": "data"}

going_on = {"backward": 0, "optimizer": 0}
"""How deep the host is in each of these phases."""
labels: list[str] = []
"""The program's own regions that the host is in."""


class Inside(threading.local):
    """Whether this thread is inside the call of a module."""

    module = False


inside = Inside()


def install(torch: Any) -> None:
    observe_labels(torch)
    observe_backward(torch)
    observe_forward(torch)


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
        self.entered_s = log.lab_time_s() if log.observing else None
        if self.entered_s is not None:
            note_entered(self.name)
        return enter(self)

    @wraps(leave)
    def leaving(self: Any, *error: Any) -> Any:
        left = leave(self, *error)
        if (entered_s := getattr(self, "entered_s", None)) is not None:
            self.entered_s = None
            note_left(self.name)
            lasted_s = log.lab_time_s() - entered_s
            if kind := phase_of(self.name):
                log.record("host_phase", kind=kind, lasted_s=lasted_s)
            else:
                record_label("left", self.name, lasted_s=lasted_s)
        return left

    label.__init__, label.__enter__, label.__exit__ = making, entering, leaving


def observe_backward(torch: Any) -> None:
    backward = torch.autograd.backward

    @wraps(backward)
    def going_backward(*args: Any, **kwargs: Any) -> Any:
        if not log.observing:
            return backward(*args, **kwargs)
        began_s = log.lab_time_s()
        going_on["backward"] += 1
        try:
            return backward(*args, **kwargs)
        finally:
            going_on["backward"] -= 1
            log.record("host_phase", kind="backward", lasted_s=log.lab_time_s() - began_s)

    torch.autograd.backward = going_backward


def observe_forward(torch: Any) -> None:
    """Calls of modules by the program: the outermost ones. Those of a backward pass, which computes again, are not."""
    call = torch.nn.Module.__call__

    # The profiler finds the modules in Python's stack by this function's code and its argument `self`.
    @wraps(call)
    def calling(self: Any, *args: Any, **kwargs: Any) -> Any:
        if inside.module or not log.observing or going_on["backward"]:
            return call(self, *args, **kwargs)
        inside.module = True
        began_s = log.lab_time_s()
        try:
            return call(self, *args, **kwargs)
        finally:
            inside.module = False
            log.record("host_phase", kind="forward", lasted_s=log.lab_time_s() - began_s)

    torch.nn.Module.__call__ = calling


def record_label(phase: str, name: object, **data: Any) -> None:
    if is_the_programs(name):
        log.record("label", phase=phase, name=str(name)[:200], **data)


def note_entered(name: object) -> None:
    if is_the_programs(name):
        labels.append(str(name)[:200])
    elif (kind := phase_of(name)) in going_on:
        going_on[str(kind)] += 1


def note_left(name: object) -> None:
    if is_the_programs(name):
        if labels:
            labels.pop()
    elif (kind := phase_of(name)) in going_on:
        going_on[str(kind)] -= 1


def is_the_programs(name: object) -> bool:
    """Whether the program named this region, and not PyTorch."""
    return not str(name).startswith(("Optimizer.", "ProfilerStep#", "enumerate(DataLoader)"))


def phase_of(name: object) -> str | None:
    """What the host does while it is in a region that PyTorch names itself."""
    return next((kind for begin, kind in PHASES.items() if str(name).startswith(begin)), None)
