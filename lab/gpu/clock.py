"""The lab's clock: real time without the host time that computing the simulated kernels' values takes."""

from __future__ import annotations

import time
from collections.abc import Callable

# Taken before anything replaces time.*: the lab itself always works with real time underneath.
real_s = time.perf_counter
real_sleep = time.sleep
REAL = {name: getattr(time, name) for name in ("perf_counter", "monotonic", "time", "process_time", "thread_time")}


class Clock:
    """Reads real time, less what was left out. Never runs backwards.

    What is left out is a gift to those who live in real time, the workers of a DataLoader. So the clock pays it back
    while the host waits for the GPU anyway: the wait is shorter in real time by what was left out since the last one.
    """

    def __init__(self) -> None:
        self.left_out_s = 0.0
        self.left_out_of_cpu_time_s = 0.0
        self.owed_s = 0.0
        self.latest_s = 0.0

    def now_s(self) -> float:
        """Seconds on the scale of time.perf_counter."""
        return real_s() - self.left_out_s

    def shown_s(self) -> float:
        """The same for learners: not less than any thread was shown before another one left its time out."""
        self.latest_s = max(self.latest_s, self.now_s())
        return self.latest_s

    def leave_out(self, since_s: float) -> None:
        """Let the real time since `since_s` (a value of real_s) count as nothing."""
        passed = max(0.0, real_s() - since_s)
        self.left_out_s += passed
        self.left_out_of_cpu_time_s += passed
        self.owed_s += passed

    def charge(self, seconds: float) -> None:
        """Let the clock run ahead: the host has spent this time, though not really."""
        self.left_out_s -= seconds

    def sleep_until(self, at_s: float) -> None:
        """Wait until this clock reads `at_s`, then leave out what the system overslept."""
        repaid = max(0.0, min(self.owed_s, at_s - self.now_s()))
        self.charge(repaid)
        self.owed_s = 0.0
        remaining = at_s - self.now_s()
        if remaining > 0:
            real_sleep(remaining)
            late = max(0.0, self.now_s() - at_s)  # read once: the process may lose the processor between two reads
            self.left_out_s += late
            self.owed_s += late


def patched_clocks(clock: Clock) -> dict[str, Callable[[], float]]:
    """Replacements for the functions of `time` that read a clock, by name, all on the lab's clock.

    Not replaced: time.clock_gettime and datetime, which read the system's clock beside `time`.
    """
    epoch_s = REAL["time"]() - REAL["perf_counter"]()
    monotonic_s = REAL["monotonic"]() - REAL["perf_counter"]()
    read: dict[str, Callable[[], float]] = {
        "perf_counter": clock.shown_s,
        "monotonic": lambda: clock.shown_s() + monotonic_s,
        "time": lambda: clock.shown_s() + epoch_s,
        "process_time": rising(lambda: REAL["process_time"]() - clock.left_out_of_cpu_time_s),
        "thread_time": rising(lambda: REAL["thread_time"]() - clock.left_out_of_cpu_time_s),
    }

    def nanoseconds(seconds: Callable[[], float]) -> Callable[[], int]:
        return lambda: int(seconds() * 1e9)

    return read | {f"{name}_ns": nanoseconds(seconds) for name, seconds in read.items()}


def rising(seconds: Callable[[], float]) -> Callable[[], float]:
    """Never less than before: what is left out is real time, of which the process may have had a part only."""
    latest = 0.0

    def read() -> float:
        nonlocal latest
        latest = max(latest, seconds())
        return latest

    return read
