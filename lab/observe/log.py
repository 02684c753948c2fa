"""What was seen, in order, and when."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

LIMIT = 200_000  # events; a program that does more is cut off there, and the last event says so

events: list[dict[str, Any]] = []
observing = False
began_s = 0.0
read_lab_time_s: Callable[[], float] = time.perf_counter
read_gpu_left_s: Callable[[], float] = float  # 0.0, until there is a GPU


def start() -> None:
    """Forget what was seen and begin to observe."""
    global observing, began_s
    events.clear()
    began_s = lab_time_s()
    observing = True


def finish() -> list[dict[str, Any]]:
    """Stop observing, return the events in order: plain data, ready for JSON."""
    global observing
    observing = False
    seen = list(events)
    events.clear()
    return seen


def record(what: str, **data: Any) -> None:
    """Add an event, if one is observing. Values must be plain data."""
    if not observing or len(events) > LIMIT:
        return
    if len(events) == LIMIT:
        what, data = "cut_off", {"limit": LIMIT}
    events.append({"n": len(events), "at_s": lab_time_s() - began_s, "what": what, **data})


def lab_time_s() -> float:
    """The time on the lab's clock."""
    return read_lab_time_s()


def gpu_left_s() -> float:
    """How long the GPU still needs for what is queued. A real one tells only whether it does: -1."""
    return read_gpu_left_s()
