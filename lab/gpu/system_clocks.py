"""Puts all that reads a clock in Python on the lab's clock: time, timeit and datetime."""

from __future__ import annotations

import ctypes
import datetime
import gc
import os
import threading
import time
import timeit
from collections.abc import Callable
from typing import Any

from lab.gpu.clock import Clock

REAL = {name: getattr(time, name) for name in ("perf_counter", "monotonic", "time", "process_time", "thread_time")}
# The names of time.clock_gettime's clocks, where the system has them, and which function reads the like.
CLOCK_IDS = {
    "CLOCK_REALTIME": "time",
    "CLOCK_MONOTONIC": "monotonic",
    "CLOCK_MONOTONIC_RAW": "monotonic",
    "CLOCK_BOOTTIME": "monotonic",
    "CLOCK_UPTIME_RAW": "monotonic",
    "CLOCK_PROCESS_CPUTIME_ID": "process_time",
    "CLOCK_THREAD_CPUTIME_ID": "thread_time",
}


def replace(clock: Clock) -> None:
    """Put them on this clock, also where timeit keeps perf_counter as a default argument.

    Not replaced: what gives the calendar's time in whole seconds (time.localtime, gmtime, ctime, strftime).
    Where datetime can't be replaced, the clock doesn't jump: it would show that.
    """
    os.register_at_fork(after_in_child=clock.restart_cpu_time)
    reads = readings(clock)
    for name, read in reads.items():
        setattr(time, name, read)
        setattr(time, f"{name}_ns", nanoseconds(read))
    if hasattr(time, "clock_gettime"):
        by_id = {getattr(time, name): reads[read] for name, read in CLOCK_IDS.items() if hasattr(time, name)}
        original, original_ns = time.clock_gettime, time.clock_gettime_ns
        time.clock_gettime = lambda clk_id: by_id[clk_id]() if clk_id in by_id else original(clk_id)
        time.clock_gettime_ns = lambda clk_id: int(by_id[clk_id]() * 1e9) if clk_id in by_id else original_ns(clk_id)
    timeit.default_timer = time.perf_counter
    functions: tuple[Any, ...] = (timeit.Timer.__init__, timeit.timeit, timeit.repeat)
    for function in functions:
        function.__defaults__ = tuple(
            time.perf_counter if value is REAL["perf_counter"] else value for value in function.__defaults__
        )
    clock.jumps = replace_datetime(reads["time"])


def readings(clock: Clock) -> dict[str, Callable[[], float]]:
    """Replacements for the functions of `time` that read a clock in seconds, by name."""
    epoch_s = REAL["time"]() - REAL["perf_counter"]()
    monotonic_s = REAL["monotonic"]() - REAL["perf_counter"]()
    return {
        "perf_counter": clock.shown_s,
        "monotonic": lambda: clock.shown_s() + monotonic_s,
        "time": lambda: clock.shown_s() + epoch_s,
        "process_time": cpu_time(REAL["process_time"], lambda: clock.left_out_of_cpu_time_s, Latest()),
        "thread_time": cpu_time(REAL["thread_time"], lambda: clock.of_thread.left_out_s, LatestOfThread()),
    }


def nanoseconds(seconds: Callable[[], float]) -> Callable[[], int]:
    return lambda: int(seconds() * 1e9)


class Latest:
    """What a clock has shown last."""

    s = 0.0


class LatestOfThread(threading.local):
    """What a clock of each thread's own has shown last."""

    s = 0.0


def cpu_time(
    real_s: Callable[[], float], left_out_s: Callable[[], float], latest: Latest | LatestOfThread
) -> Callable[[], float]:
    """Never less than before: what is left out is real time, of which the process may have had a part only."""

    def read() -> float:
        latest.s = max(latest.s, real_s() - left_out_s())
        return latest.s

    def restart() -> None:
        latest.s = 0.0

    os.register_at_fork(after_in_child=restart)
    return read


def replace_datetime(epoch_s: Callable[[], float]) -> bool:
    """Let datetime.now and utcnow read this clock; whether that worked. (today calls time.time.)

    They belong to a class of C, which takes no new attributes. A subclass in its place would be another class for
    isinstance and pickle wherever the first one is known already, so the class's own dictionary is changed.
    """
    kind = datetime.datetime
    replacements: dict[str, Callable[..., datetime.datetime]] = {
        "now": lambda cls, tz=None: cls.fromtimestamp(epoch_s(), tz),
        "utcnow": lambda cls: cls.fromtimestamp(epoch_s(), datetime.timezone.utc).replace(tzinfo=None),
    }
    held = [own for own in gc.get_referents(kind.__dict__) if type(own) is dict and replacements.keys() <= own.keys()]
    if len(held) != 1:
        return False
    held[0].update({name: classmethod(read) for name, read in replacements.items()})
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
    return getattr(kind.now, "__func__", None) is replacements["now"]
