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
    """Reads real time, less what was left out. Never runs backwards for the thread that leaves time out."""

    def __init__(self) -> None:
        self.left_out_s = 0.0

    def now_s(self) -> float:
        """Seconds on the scale of time.perf_counter."""
        return real_s() - self.left_out_s

    def leave_out(self, since_s: float, charge_s: float) -> None:
        """Let the real time since `since_s` (a value of real_s) count as `charge_s` seconds only."""
        self.left_out_s += max(0.0, real_s() - since_s - charge_s)

    def sleep_until(self, at_s: float) -> None:
        """Wait, in real time, until this clock reads `at_s`; then leave out what the system overslept."""
        remaining = at_s - self.now_s()
        if remaining <= 0:
            return
        real_sleep(remaining)
        late = self.now_s() - at_s
        if late > 0:
            self.left_out_s += late
        else:
            while self.now_s() < at_s:
                pass


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
