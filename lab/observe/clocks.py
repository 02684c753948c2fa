"""Clocks that a program reads, and whether the GPU was busy then."""

from __future__ import annotations

import sys
import time
import timeit
from collections.abc import Callable
from functools import wraps
from typing import Any

from lab.observe import log
from lab.observe.calls import inside


def install() -> None:
    for name in (
        "perf_counter",
        "perf_counter_ns",
        "monotonic",
        "monotonic_ns",
        "time",
        "time_ns",
        "process_time",
        "process_time_ns",
    ):
        setattr(time, name, clock_read(f"time.{name}", getattr(time, name)))
    timeit.default_timer = time.perf_counter


def clock_read(call: str, read: Callable[[], Any]) -> Callable[[], Any]:
    scale = 1e-9 if call.endswith("_ns") else 1.0

    @wraps(read)
    def reading() -> Any:
        if not log.observing or inside.call:
            return read()
        module = sys._getframe(1).f_globals.get("__name__", "")
        if module.startswith(("torch.", "lab.", "threading", "multiprocessing", "queue", "asyncio", "logging")):
            return read()
        left_s = log.gpu_left_s()
        value = read()
        log.record("clock_read", call=call, value_s=value * scale, gpu_busy=left_s != 0.0, gpu_left_s=left_s)
        return value

    return reading
