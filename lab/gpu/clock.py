"""The lab's clock: real time without the host time that computing the simulated kernels' values takes."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time

# Taken before anything replaces time.*: the lab itself always works with real time underneath.
real_s = time.perf_counter
real_sleep = time.sleep


class OfThread(threading.local):
    """What of a thread's own processor time was left out."""

    left_out_s = 0.0


class Clock:
    """Reads real time, less what was left out, plus what was jumped over. Never runs backwards.

    A wait for the simulated GPU needn't take real time: the clock jumps to its end. Not so where somebody lives in
    real time meanwhile, the workers of a DataLoader or another thread: there the wait is a real one. What is left out
    is a gift to them, so the clock pays it back: the wait is shorter by what was left out since the last one.
    """

    def __init__(self) -> None:
        self.left_out_s = 0.0
        self.restart_cpu_time()
        self.owed_s = 0.0
        self.latest_s = 0.0
        self.jumps = True  # unless something of Python's reads another clock

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
        self.of_thread.left_out_s += passed
        self.owed_s += passed

    def restart_cpu_time(self) -> None:
        """A process that was just forked begins to count its processor time at zero."""
        self.left_out_of_cpu_time_s = 0.0
        self.of_thread = OfThread()

    def charge(self, seconds: float) -> None:
        """Let the clock run ahead: the host has spent this time, though not really."""
        self.left_out_s -= seconds

    def sleep_until(self, at_s: float) -> None:
        """Wait until this clock reads `at_s`, then leave out what the system overslept."""
        if at_s <= self.now_s():
            return
        if self.jumps and alone():
            self.charge(at_s - self.now_s())
            self.owed_s = 0.0
            return
        self.charge(max(0.0, min(self.owed_s, at_s - self.now_s())))
        self.owed_s = 0.0
        remaining = at_s - self.now_s()
        if remaining > 0:
            real_sleep(remaining)
            late = max(0.0, self.now_s() - at_s)  # read once: the process may lose the processor between two reads
            self.left_out_s += late
            self.owed_s += late

    def spend(self, seconds: float) -> None:
        """Wait for so long, whatever the GPU does."""
        if self.jumps and alone():
            self.charge(seconds)
        else:
            real_sleep(seconds)


def alone() -> bool:
    """Whether nobody else can use the time of a wait: no other thread, no child process, no parent that waits."""
    return threading.active_count() == 1 and multiprocessing.parent_process() is None and not has_children()


def has_children() -> bool:
    """Whether this process has started others that still run, or may have: not every system tells."""
    if not hasattr(os, "waitid"):
        return True
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
