"""Puts all that reads a clock in Python on the lab's clock: time, timeit and datetime."""

from __future__ import annotations

import ctypes
import datetime
import gc
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
        "process_time": rising(lambda: REAL["process_time"]() - clock.left_out_of_cpu_time_s),
        "thread_time": rising(lambda: REAL["thread_time"]() - clock.left_out_of_cpu_time_s),
    }


def nanoseconds(seconds: Callable[[], float]) -> Callable[[], int]:
    return lambda: int(seconds() * 1e9)


def rising(seconds: Callable[[], float]) -> Callable[[], float]:
    """Never less than before: what is left out is real time, of which the process may have had a part only."""
    latest = 0.0

    def read() -> float:
        nonlocal latest
        latest = max(latest, seconds())
        return latest

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
