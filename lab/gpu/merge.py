"""Puts what a profiler recorded and what the simulated GPU did on one time axis."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.gpu.recording import MARKER, PASSED, Marked, Recording
from lab.gpu.timeline import Launch

# PyTorch's dispatch machinery and the lab's own frames, named by path or relative to sys.path: no learner wrote them.
PACKAGE = Path(__file__).parent
MACHINERY = (
    "PythonDispatchMode",
    "lab/gpu/",
    f"{PACKAGE}/",
    "lab/observe/",
    f"{PACKAGE.parent / 'observe'}/",
    "torch/utils/_python_dispatch.py",
    "torch/_library/simple_registry.py",  # how a dispatch mode is looked up
)


@dataclass(frozen=True)
class Interval:
    """One event of the profiler: times in ns on its own clock."""

    index: int
    name: str
    begin_ns: int
    end_ns: int
    thread: int
    is_op: bool
    is_frame: bool = False  # a Python function, recorded by with_stack


@dataclass(frozen=True)
class Placed:
    """Something of the simulated GPU, and the op (index of an Interval) that it belongs to."""

    begin_ns: int
    end_ns: int
    op: int | None
    thread: int


@dataclass(frozen=True)
class PlacedLaunch(Placed):
    launch: Launch
    launch_begin_ns: int
    launch_end_ns: int


@dataclass(frozen=True)
class PlacedWait(Placed):
    runtime: str


@dataclass(frozen=True)
class Span:
    """What an annotation (index of an Interval) covers on the GPU."""

    index: int
    begin_ns: int
    end_ns: int
    stream: int


@dataclass
class Merged:
    """All on the lab's clock, in ns on the profiler's axis."""

    kept: list[tuple[int, int, int]] = field(default_factory=list)  # index, begin, end
    launches: list[PlacedLaunch] = field(default_factory=list)
    waits: list[PlacedWait] = field(default_factory=list)
    axis: Axis | None = None

    def spans(self, is_annotation: Callable[[int], bool]) -> list[Span]:
        """Each annotation on the GPU: from the first to the last kernel that was launched inside it."""
        found = []
        for index, begin_ns, end_ns in self.kept:
            if not is_annotation(index):
                continue
            inside = [placed for placed in self.launches if begin_ns <= placed.launch_end_ns <= end_ns]
            if inside:
                begin, end = min(placed.begin_ns for placed in inside), max(placed.end_ns for placed in inside)
                found.append(Span(index, begin, end, inside[0].launch.stream))
        return found


class Axis:
    """Turns the profiler's time into the lab's, by the markers that both know."""

    def __init__(self, markers: Sequence[tuple[Interval, Marked]], origin_ns: int) -> None:
        self.markers = sorted(markers, key=lambda pair: pair[0].begin_ns)
        self.begins = [interval.begin_ns for interval, _ in self.markers]
        self.origin_ns = origin_ns
        self.origin_s = self.lab_s(origin_ns)

    def lab_s(self, at_ns: int) -> float:
        """The lab's time for a time of the profiler. Between two markers both clocks run alike."""
        at = bisect.bisect_right(self.begins, at_ns) - 1
        if at < 0:
            interval, marked = self.markers[0]
            return marked.begin_s - (interval.begin_ns - at_ns) / 1e9
        interval, marked = self.markers[at]
        if at_ns <= interval.end_ns:
            part = (at_ns - interval.begin_ns) / max(1, interval.end_ns - interval.begin_ns)
            return marked.begin_s + part * (marked.end_s - marked.begin_s)
        lab = marked.end_s + (at_ns - interval.end_ns) / 1e9
        if at + 1 < len(self.markers):
            lab = min(lab, self.markers[at + 1][1].begin_s)
        return lab

    def in_marker(self, at_ns: int) -> bool:
        """Whether the time lies inside an op or a wait of the simulated GPU."""
        at = bisect.bisect_right(self.begins, at_ns) - 1
        return at >= 0 and at_ns <= self.markers[at][0].end_ns

    def ns(self, lab_s: float) -> int:
        """A time on the lab's clock as ns on the common axis."""
        return self.origin_ns + round((lab_s - self.origin_s) * 1e9)

    def moved(self, at_ns: int) -> int:
        return self.ns(self.lab_s(at_ns))


def merge(intervals: Iterable[Interval], recording: Recording, origin_ns: int) -> Merged:
    """Move the profiler's events to the lab's clock, drop the machinery, place launches and waits."""
    intervals = list(intervals)
    markers: dict[int, tuple[Interval, Marked]] = {}
    for interval in intervals:
        if interval.name.startswith(MARKER) and interval.name != PASSED:
            number = int(interval.name[len(MARKER) :])
            if number in recording.marked:
                markers[number] = (interval, recording.marked[number])
    merged = Merged()
    if markers:
        merged.axis = Axis(list(markers.values()), origin_ns)
    axis = merged.axis
    owners = find_owners(intervals, markers, merged, axis)
    if axis is None:
        return merged
    for launch in recording.launches:
        if launch.dispatch not in markers:
            continue
        interval, _ = markers[launch.dispatch]
        merged.launches.append(
            PlacedLaunch(
                axis.ns(launch.begin_s),
                axis.ns(launch.end_s),
                owners.get(launch.dispatch),
                interval.thread,
                launch,
                axis.ns(launch.launched_s - LAUNCH_CALL_S),
                axis.ns(launch.launched_s),
            )
        )
    called_until_s: dict[int, float] = {}
    for call in recording.calls:
        if call.marker in markers:
            interval, marked = markers[call.marker]
            begin_s = called_until_s.get(call.marker, marked.begin_s)
            called_until_s[call.marker] = end_s = begin_s + call.duration_s
            begin_ns, end_ns = axis.ns(begin_s), axis.ns(end_s)
            merged.waits.append(PlacedWait(begin_ns, end_ns, owners.get(call.marker), interval.thread, call.name))
    for number, (interval, marked) in markers.items():
        if marked.runtime is not None:
            merged.waits.append(
                PlacedWait(
                    axis.ns(marked.begin_s), axis.ns(marked.end_s), owners.get(number), interval.thread, marked.runtime
                )
            )
    return merged


LAUNCH_CALL_S = 5e-6  # the part of a launch's cost that is spent inside the runtime call itself


def is_machinery(interval: Interval) -> bool:
    return interval.name.startswith((MARKER, *MACHINERY))


def find_owners(
    intervals: Sequence[Interval], markers: dict[int, tuple[Interval, Marked]], merged: Merged, axis: Axis | None
) -> dict[int, int]:
    """Keep what lies outside the markers; for each marker, find the innermost op around it."""
    owners: dict[int, int] = {}
    by_thread: dict[int, list[Interval]] = {}
    for interval in intervals:
        by_thread.setdefault(interval.thread, []).append(interval)
    for events in by_thread.values():
        open_ops: list[Interval] = []
        hidden_until_ns = repeat_until_ns = own_frame_until_ns = -1
        repeat = ""
        for event in sorted(events, key=lambda event: (event.begin_ns, -event.end_ns)):
            while open_ops and open_ops[-1].end_ns <= event.begin_ns:
                open_ops.pop()
            if event.begin_ns < hidden_until_ns:
                continue  # the repeat of an op inside a marker
            if event.name == PASSED:
                repeat, repeat_until_ns = (open_ops[-1].name if open_ops else ""), event.end_ns
                continue
            if event.name == repeat and event.begin_ns < repeat_until_ns:
                repeat = ""
                continue
            if event.name.startswith(MARKER):
                number = int(event.name[len(MARKER) :])
                hidden_until_ns = event.end_ns
                if open_ops and number in markers:
                    owners[number] = open_ops[-1].index
                continue
            if event.is_frame and event.begin_ns < own_frame_until_ns:
                continue  # called by the lab
            if is_machinery(event):
                if event.is_frame:
                    own_frame_until_ns = event.end_ns
                continue
            if event.is_op:
                open_ops.append(event)
            begin, end = event.begin_ns, event.end_ns
            merged.kept.append((event.index, *((begin, end) if axis is None else (axis.moved(begin), axis.moved(end)))))
    return owners
