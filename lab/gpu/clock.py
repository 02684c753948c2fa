"""The lab's clock: real time without the host time that computing the simulated kernels' values takes."""

from __future__ import annotations

import time

# Taken before anything replaces time.*: the lab itself always works with real time underneath.
real_s = time.perf_counter
real_sleep = time.sleep
REAL = {
    name: getattr(time, name)
    for name in ("perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "time", "time_ns")
}


class Clock:
    """Reads real time, less what was left out. Never runs backwards for the thread that leaves time out.

    What is left out is a gift to those who live in real time, the workers of a DataLoader. So the clock pays it back
    while the host waits for the GPU anyway: the wait is shorter in real time by what was left out since the last one.
    """

    def __init__(self) -> None:
        self.left_out_s = 0.0
        self.owed_s = 0.0

    def now_s(self) -> float:
        """Seconds on the scale of time.perf_counter."""
        return real_s() - self.left_out_s

    def leave_out(self, since_s: float) -> None:
        """Let the real time since `since_s` (a value of real_s) count as nothing."""
        passed = max(0.0, real_s() - since_s)
        self.left_out_s += passed
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


def patched_clocks(clock: Clock) -> dict[str, object]:
    """Replacements for the functions of `time` that read a clock, by name, all on the lab's clock."""
    real = REAL

    def seconds(name: str):  # type: ignore[no-untyped-def]
        read = real[name]
        return lambda: read() - clock.left_out_s

    def nanoseconds(name: str):  # type: ignore[no-untyped-def]
        read = real[name]
        return lambda: read() - int(clock.left_out_s * 1e9)

    return {name: nanoseconds(name) if name.endswith("_ns") else seconds(name) for name in real}
