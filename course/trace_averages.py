"""The profiler's table from a trace: operators with their own time, and what they launched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lab.trace.events import CALLS, Kind
from lab.trace.examine import Examined

MOST_EVENTS = 1_500_000
"""With more operators and calls than that it would take too long."""
MOST_ROWS = 500


@dataclass(frozen=True, eq=False)
class Averages:
    """The table; and of each piece of the device's work the name of the operator that launched it."""

    rows: tuple[tuple[str, int, float, float, float, float], ...]
    """Name, calls, self CPU, CPU total, self CUDA, CUDA total: in microseconds."""
    op_of_work: npt.NDArray[np.int64]
    """-1 where none is known."""


def averages(examined: Examined) -> Averages:
    """Sums by name, of what lies in the window."""
    trace, work, window = examined.trace, examined.work, examined.window
    op_of_work = np.full(len(work), -1, np.int64)
    chosen = trace.of(Kind.OPERATOR, Kind.ANNOTATION, Kind.LOADER, *CALLS)
    chosen &= (trace.begin_ns < window.end_ns) & (trace.begin_ns >= window.begin_ns)
    index = np.flatnonzero(chosen)
    if not len(index) or len(index) > MOST_EVENTS:
        return Averages((), op_of_work)
    index = index[np.lexsort((-trace.end_ns[index], trace.begin_ns[index], trace.thread[index]))]
    device_ns = np.zeros(len(trace), np.int64)
    launched = work.launch >= 0
    np.add.at(device_ns, work.launch[launched], (work.end_ns - work.begin_ns)[launched])
    parent = _parents(trace.thread[index].tolist(), trace.begin_ns[index].tolist(), trace.end_ns[index].tolist())
    lasts = trace.end_ns[index] - trace.begin_ns[index]
    own = lasts.copy()
    inner = parent >= 0
    np.subtract.at(own, parent[inner], lasts[inner])
    own_device = device_ns[index]
    is_call = np.isin(trace.kind[index], CALLS)
    # A call's launches count as its operator's own, as in PyTorch's table.
    given = is_call & inner
    self_device = np.where(is_call, 0, own_device)
    np.add.at(self_device, parent[given], own_device[given])
    device = own_device.copy()
    for at in range(len(index) - 1, -1, -1):  # parents come before their children
        if parent[at] >= 0 and device[at]:
            device[parent[at]] += device[at]
    _say_who_launched(trace.name[index], parent, is_call, index, len(trace), work.launch, op_of_work)
    names = trace.name[index]
    numbers, places, counts = np.unique(names, return_inverse=True, return_counts=True)
    sums = [
        np.bincount(places, weights=values, minlength=len(numbers)) / 1000
        for values in (np.maximum(own, 0), lasts, self_device, device)
    ]
    rows = [
        (trace.names[number][:200], int(count), *(float(each[at]) for each in sums))
        for at, (number, count) in enumerate(zip(numbers, counts, strict=True))
    ]
    rows.sort(key=lambda row: -max(row[2], row[4]))
    return Averages(tuple(rows[:MOST_ROWS]), op_of_work)


def _parents(threads: list[int], begins: list[int], ends: list[int]) -> npt.NDArray[np.int64]:
    """For each event, sorted by thread and begin, the place of the innermost one around it; -1 where there is none."""
    parents = []
    around: list[int] = []
    for at, begin in enumerate(begins):
        while around and (threads[around[-1]] != threads[at] or ends[around[-1]] <= begin):
            around.pop()
        parents.append(around[-1] if around else -1)
        around.append(at)
    return np.array(parents, np.int64)


def _say_who_launched(
    names: npt.NDArray[np.int32],
    parent: npt.NDArray[np.int64],
    is_call: npt.NDArray[np.bool_],
    index: npt.NDArray[np.intp],
    events: int,
    launch: npt.NDArray[np.intp],
    op_of_work: npt.NDArray[np.int64],
) -> None:
    """Of each piece of work the operator around its launch."""
    place = np.full(events, -1, np.int64)
    place[index] = np.arange(len(index))
    known = launch >= 0
    at = np.full(len(launch), -1, np.int64)
    at[known] = place[launch[known]]
    found = at >= 0
    op = np.where(found, parent[np.maximum(at, 0)], -1)
    inside = op >= 0
    op_of_work[inside] = names[op[inside]]
