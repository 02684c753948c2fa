"""The work of the devices, each piece linked to the call that launched it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lab.trace.events import CALLS, DEVICE, Flags, Ints, Trace

# A launch that seems to come so long after its kernel isn't its launch. A few microseconds are the clocks' skew.
LARGEST_SKEW_NS = 1_000_000
LONG_AGO_NS = -(2**60)


@dataclass(frozen=True, eq=False)
class Work:
    """What ran on the devices, sorted by begin. `index` is the event's place in the trace."""

    index: npt.NDArray[np.intp]
    begin_ns: Ints
    end_ns: Ints
    linked: Flags  # whether it is known when it was launched
    launch: npt.NDArray[np.intp]  # the event that launched it; -1 where none was recorded
    launch_begin_ns: Ints
    launch_end_ns: Ints
    clipped_ns: int  # time beyond the next work of the same stream, which can't be true

    def __len__(self) -> int:
        return len(self.index)


def device_work(trace: Trace) -> Work:
    """The device's events with their launches."""
    index = np.flatnonzero(trace.of(*DEVICE))
    begin, end = trace.begin_ns[index], trace.end_ns[index]
    correlation = trace.correlation[index]
    end, clipped_ns = _without_overflow(trace, index, begin, end, correlation)

    calls = np.flatnonzero(trace.of(*CALLS) & (trace.correlation > 0))
    # Where a driver's call is inside a runtime's, both may carry the number: the outer one, which began first, counts.
    order = np.lexsort((-trace.end_ns[calls], trace.begin_ns[calls], trace.correlation[calls]))
    calls = calls[order]
    numbers = trace.correlation[calls]
    first = np.concatenate(([True], numbers[1:] != numbers[:-1])) if len(numbers) else np.empty(0, bool)
    calls, numbers = calls[first], numbers[first]

    launch = np.full(len(index), -1, np.intp)
    if len(numbers):
        at = np.minimum(np.searchsorted(numbers, correlation), len(numbers) - 1)
        found = (numbers[at] == correlation) & (correlation > 0)
        found &= trace.begin_ns[calls[at]] <= begin + LARGEST_SKEW_NS
        launch[found] = calls[at][found]
    recorded = launch >= 0
    # What began before the first recorded launch, or has a lower number, was launched before the recording began.
    early = np.zeros(len(index), bool)
    if recorded.any():
        early = (begin < trace.begin_ns[launch[recorded]].min()) | ((correlation > 0) & (correlation < numbers[0]))
        early &= ~recorded
    return Work(
        index,
        begin,
        end,
        recorded | early,
        launch,
        np.where(recorded, trace.begin_ns[launch], LONG_AGO_NS),
        np.where(recorded, trace.end_ns[launch], LONG_AGO_NS),
        clipped_ns,
    )


def _without_overflow(
    trace: Trace, index: npt.NDArray[np.intp], begin: Ints, end: Ints, correlation: Ints
) -> tuple[Ints, int]:
    """End work where the next one on its stream begins, if it seems to outlast even that one.

    A stream does one thing after another. Only the nodes of one graph, which share a launch, may lie side by side.
    """
    if len(index) < 2:
        return end, 0
    order = np.lexsort((end, begin, trace.stream[index], trace.device[index]))
    this, following = order[:-1], order[1:]
    same = (trace.stream[index[this]] == trace.stream[index[following]]) & (
        trace.device[index[this]] == trace.device[index[following]]
    )
    over = same & (end[this] > end[following]) & (correlation[this] != correlation[following])
    # Without a link nothing tells graphs apart, so nothing is cut.
    over &= (correlation[this] > 0) & (correlation[following] > 0) & (begin[following] > begin[this])
    cut = end.copy()
    cut[this[over]] = begin[following[over]]
    return cut, int((end - cut).sum())
