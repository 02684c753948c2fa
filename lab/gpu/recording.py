"""What an active torch.profiler is told about the simulated GPU while it records.

Each dispatched op and each wait runs inside a profiler event of our own, a *marker*, whose name carries a number.
By these numbers the profiler's events and the simulated ones are put together afterwards, without comparing clocks.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import torch

from lab.gpu.timeline import Launch

AFTER_A_CALL_S = 1e-6
MEMORY = "[memory]"  # PyTorch's name for memory given and taken
RUNTIME_CALLS = {"kernel": "cudaLaunchKernel", "memcpy": "cudaMemcpyAsync", "memset": "cudaMemsetAsync"}
MARKER = "lab.gpu::"
PASSED = MARKER + "passed"  # around an op that passes to the CPU untouched: PyTorch records it twice


@dataclass
class Marked:
    """What happened in one marker. Times are seconds on the lab's clock."""

    begin_s: float
    end_s: float = 0.0
    runtime: str | None = None  # the CUDA runtime call that a wait shows up as


@dataclass(frozen=True)
class Allocation:
    """Memory that the simulated GPU gave (or took back: negative)."""

    at_s: float
    change_bytes: int
    host_bytes: int  # what the CPU's allocator gave for it
    allocated_bytes: int  # in all, afterwards
    reserved_bytes: int
    marker: int  # -1 outside of every marker


@dataclass(frozen=True)
class RuntimeCall:
    """A call of the CUDA runtime inside a marker, beside launches and waits."""

    name: str
    duration_s: float
    marker: int


@dataclass
class Recording:
    """Everything since a profiler was started."""

    marked: dict[int, Marked] = field(default_factory=dict)
    launches: list[Launch] = field(default_factory=list)
    allocations: list[Allocation] = field(default_factory=list)
    calls: list[RuntimeCall] = field(default_factory=list)
    called_s: dict[int, float] = field(default_factory=dict)  # how long those of a marker took

    def allocated_at_s(self, allocation: Allocation) -> float:
        """When the memory was given: inside a marker, where the clock still runs with the host, at its begin.

        There calls of the runtime come first, or the memory would count as theirs and not as the operator's.
        """
        marked = self.marked.get(allocation.marker)
        if marked is None:
            return allocation.at_s
        called_s = self.called_s.get(allocation.marker)
        return marked.begin_s if called_s is None else marked.begin_s + called_s + AFTER_A_CALL_S


active: list[Recording] = []
numbers = 0
current_marker = -1


class marker:  # noqa: N801 - used like a function
    """Make the enclosed time recognisable in the profiler's events. Free when no profiler runs.

    A class and not a generator: with_stack would show the frames that a generator's context manager needs.
    """

    def __init__(self, begin_s: float, runtime: str | None = None) -> None:
        self.marked = Marked(begin_s, begin_s, runtime) if active else None
        self.outer = -1

    def __enter__(self) -> Marked | None:
        global numbers, current_marker
        if self.marked is not None:
            for recording in active:
                recording.marked[numbers] = self.marked
            self.outer, current_marker = current_marker, numbers
            self.event = torch._C._profiler._RecordFunctionFast(f"{MARKER}{numbers}")
            numbers += 1
            self.event.__enter__()
        return self.marked

    def __exit__(self, *error: object) -> None:
        global current_marker
        if self.marked is not None:
            self.event.__exit__(None, None, None)
            current_marker = self.outer


def passed() -> AbstractContextManager[None]:
    """Make the repeat of an op that only passes through recognisable."""
    return torch._C._profiler._RecordFunctionFast(PASSED)


def record_launch(launch: Launch) -> None:
    for recording in active:
        recording.launches.append(launch)


def record_allocation(
    at_s: float, change_bytes: int, host_bytes: int, allocated_bytes: int, reserved_bytes: int
) -> None:
    for recording in active:
        recording.allocations.append(
            Allocation(at_s, change_bytes, host_bytes, allocated_bytes, reserved_bytes, current_marker)
        )


def record_call(name: str, duration_s: float) -> None:
    for recording in active:
        recording.calls.append(RuntimeCall(name, duration_s, current_marker))
        recording.called_s[current_marker] = recording.called_s.get(current_marker, 0.0) + duration_s
