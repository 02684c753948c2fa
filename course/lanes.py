"""What went on over time, as lanes to draw: spans, gaps, marks and memory, looked up fast however many there are."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from lab.language import N_, _

LONG_GAP = 0.01
"""A gap is long from this share of the run on."""
FEW_GAPS = 10
"""Where no gap is long, so many of the longest ones are."""
LEAST_SHARE = 1e-6
"""Of a column; less than that comes from rounding."""

HOST_KINDS = {
    "launch": N_("launches"),
    "data": N_("loads data"),
    "forward": N_("forward"),
    "backward": N_("backward"),
    "optimizer": N_("optimizer"),
    "copy": N_("copies"),
    "alloc": N_("memory calls"),
    "wait": N_("waits"),
    "read": N_("reads"),
    "code": N_("other code"),
}
"""What the host can be seen to do, and the words for it."""
GPU_KINDS = {"kernel": N_("kernels"), "memcpy": N_("copies"), "memset": N_("fills"), "collective": N_("communication")}
WAITED_FOR = {
    "start": N_("the first kernel"),
    "end": N_("nothing: all was done"),
    "stream": N_("another stream"),
    "launch": N_("the next launch"),
    "data": N_("loading data"),
    "forward": N_("forward to launch"),
    "backward": N_("backward to launch"),
    "optimizer": N_("the optimizer to launch"),
    "copy": N_("a copy from the host"),
    "alloc": N_("memory to be taken or given back"),
    "wait": N_("the host, which waited"),
    "sync": N_("the host"),
    "read": N_("the host, which read a value"),
    "code": N_("other code"),
    "unknown": N_("something that isn't recorded"),
}
"""What the GPU can wait for while it is idle, and the words for it."""


class Span(NamedTuple):
    """Something that went on for a while."""

    begin_s: float
    end_s: float
    kind: str
    name: str
    op: str = ""
    """Of a kernel or copy: the operator that launched it."""
    launched_s: float = 0.0
    """Of a kernel or copy: when the host launched it."""

    @property
    def duration_s(self) -> float:
        return self.end_s - self.begin_s


class Mark(NamedTuple):
    """Something that happened at one moment, or a region that the program named."""

    at_s: float
    kind: str
    name: str
    until_s: float = 0.0
    """Of a region: its end, where that is known."""


class Allocated(NamedTuple):
    """How much memory of the GPU was allocated at one moment."""

    at_s: float
    size_bytes: int


class Gap(NamedTuple):
    """A stretch without any work on the GPU."""

    begin_s: float
    end_s: float
    waited_for: str
    """One of WAITED_FOR."""
    after: str = ""
    """The call in which the host was waiting for the GPU to run dry when it did."""

    @property
    def duration_s(self) -> float:
        return self.end_s - self.begin_s

    @property
    def words(self) -> str:
        if self.after and self.waited_for in ("wait", "read"):
            return _("the host, still in {call}", call=self.after)
        after = self.after if self.waited_for != "end" else ""
        words = _(WAITED_FOR[self.waited_for])
        return _("{cause} after {call}", cause=words, call=after) if after else words


@dataclass(frozen=True)
class Alive:
    """Allocations of the same kind that were alive at the peak."""

    role: str
    op: str
    label: str
    shape: tuple[int, ...]
    dtype: str
    count: int
    size_bytes: int


class Average(NamedTuple):
    """A row of the profiler's table. Times in microseconds; None where nothing is known."""

    name: str
    calls: int
    self_cpu_us: float | None = None
    cpu_us: float | None = None
    self_device_us: float | None = None
    device_us: float | None = None
    self_cpu_bytes: int | None = None
    cpu_bytes: int | None = None
    self_device_bytes: int | None = None
    device_bytes: int | None = None


class Column(NamedTuple):
    """What one column of a lane shows: the kind that takes most of its time, and how much of it anything takes."""

    kind: str
    share: float


Timed = TypeVar("Timed", Span, Gap)
Sum = tuple[str, int, float, float]
"""A name with how often, how long in all, and the longest time in seconds."""

EMPTY = Column("", 0.0)


class Lane(Generic[Timed]):
    """Spans in order, none over another; what lies at a moment or in a window is found without walking through all."""

    def __init__(self, spans: Sequence[Timed]) -> None:
        self.spans: Sequence[Timed] = spans

    @cached_property
    def begins(self) -> Sequence[float]:
        known: Sequence[float] | None = getattr(self.spans, "begins", None)
        return known if known is not None else [span.begin_s for span in self.spans]

    @cached_property
    def total_s(self) -> float:
        return math.fsum(span.end_s - span.begin_s for span in self.spans)

    def at(self, at_s: float) -> Timed | None:
        """What goes on at this moment."""
        number = bisect_right(self.begins, at_s) - 1
        return self.spans[number] if number >= 0 and at_s < self.spans[number].end_s else None

    def within(self, begin_s: float, end_s: float) -> Iterator[Timed]:
        """The spans of which anything lies in this window."""
        for number in range(max(bisect_right(self.begins, begin_s) - 1, 0), len(self.spans)):
            span = self.spans[number]
            if span.begin_s >= end_s:
                return
            if span.end_s > begin_s:
                yield span

    def wide(self, begin_s: float, column_s: float, count: int) -> Iterator[Timed]:
        """Those in a window of so many columns that reach from one column into another: all that have any width."""
        before = -1
        for column in range(count + 1):
            at_s = begin_s + column * column_s
            number = bisect_right(self.begins, at_s) - 1
            if number > before and self.spans[number].end_s > at_s:
                before = number
                yield self.spans[number]


class KindSums:
    """How much time each kind takes up to any moment: what a column shows costs the same for few spans and for many.

    A span that stands for several is as busy as they are together, evenly.
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        self._kinds: dict[str, tuple[list[float], list[float], list[float]]] = {}
        """Of each kind begins, ends, and how long it took before each, and at last in all."""
        totals: dict[str, float] = {}
        for begin_s, end_s, kind, *_rest in spans:
            if kind not in self._kinds:
                self._kinds[kind] = [], [], []
                totals[kind] = 0.0
            begins, ends, before = self._kinds[kind]
            begins.append(begin_s)
            ends.append(end_s)
            before.append(totals[kind])
            totals[kind] += end_s - begin_s
        for kind, total_s in totals.items():
            self._kinds[kind][2].append(total_s)

    def put(self, kind: str, begins: list[float], ends: list[float], before: list[float]) -> None:
        """Add a kind whose sums are known."""
        self._kinds[kind] = begins, ends, before

    @property
    def kinds(self) -> set[str]:
        return set(self._kinds)

    def columns(self, begin_s: float, end_s: float, count: int) -> list[Column]:
        """A window cut into so many columns."""
        step_s = (end_s - begin_s) / count
        edges = [begin_s + number * step_s for number in range(count + 1)]
        most, sums, which = [0.0] * count, [0.0] * count, [""] * count
        for kind, (begins, ends, before) in self._kinds.items():
            done_s, place = 0.0, 0
            for number, edge_s in enumerate(edges):
                place = bisect_right(begins, edge_s, lo=place)
                upto_s = 0.0
                if place:
                    upto_s, last_s = before[place], ends[place - 1]
                    if edge_s < last_s:
                        first_s, since_s = begins[place - 1], before[place - 1]
                        upto_s = since_s + (upto_s - since_s) * (edge_s - first_s) / (last_s - first_s)
                if number:
                    covered_s = upto_s - done_s
                    sums[number - 1] += covered_s
                    if covered_s > most[number - 1]:
                        most[number - 1], which[number - 1] = covered_s, kind
                done_s = upto_s
        return [
            Column(kind, min(share, 1.0)) if kind and (share := covered_s / step_s) > LEAST_SHARE else EMPTY
            for kind, covered_s in zip(which, sums, strict=True)
        ]


@dataclass(frozen=True)
class RunView:
    """A run, or a part of a trace: from its first moment, 0, to the end of the last thing that was done."""

    window_s: float
    host: Sequence[Span]
    """One after another from 0 to where the program ended, without holes."""
    marks: tuple[Mark, ...]
    streams: Mapping[int, Sequence[Span]]
    """What ran on each stream of the GPU, in order. Of a run on a real GPU nothing is known of it."""
    gaps: Sequence[Gap]
    busy_s: float
    """How long at least one stream worked."""
    memory: tuple[Allocated, ...] = ()
    """What was allocated at each launch, in order; empty where that isn't known."""
    alive: tuple[Alive, ...] = ()
    """What was allocated at the peak, the largest first; empty where that isn't known."""
    averages: tuple[Average, ...] = ()
    """The table of the program's own profiler session."""
    calls: tuple[Span, ...] = ()
    """What the host does below its phases: launching, or other code."""
    steps: tuple[tuple[float, float], ...] = ()
    """Begin and end of each step, where they are known."""
    kernel_sums: tuple[Sum, ...] | None = None
    """Kernels and copies by name, where they were added up elsewhere; else by the spans."""
    idle_sums: tuple[Sum, ...] | None = None
    """What was waited for, likewise."""
    cut_off: bool = False
    """Whether the program did more than was written down."""

    @cached_property
    def idle_s(self) -> float:
        return math.fsum(gap.duration_s for gap in self.gaps)

    @cached_property
    def peak(self) -> Allocated | None:
        """The first moment at which most memory was allocated."""
        return max(self.memory, key=lambda sample: sample.size_bytes, default=None)

    @cached_property
    def long_gaps(self) -> list[Gap]:
        """The longest gaps, in order of time: few enough to walk through."""
        long = [gap for gap in self.gaps if gap.duration_s >= LONG_GAP * self.window_s]
        return long or sorted(sorted(self.gaps, key=lambda gap: -gap.duration_s)[:FEW_GAPS])

    @property
    def launches(self) -> Iterator[Span]:
        for spans in self.streams.values():
            yield from spans

    # What is worked out once, when it is first drawn

    @cached_property
    def host_lane(self) -> Lane[Span]:
        return Lane(self.host)

    @cached_property
    def gap_lane(self) -> Lane[Gap]:
        return Lane(self.gaps)

    @cached_property
    def stream_lanes(self) -> dict[int, Lane[Span]]:
        return {stream: Lane(spans) for stream, spans in self.streams.items()}

    @cached_property
    def host_sums(self) -> KindSums:
        return KindSums(self.host)

    @cached_property
    def stream_sums(self) -> dict[int, KindSums]:
        return {stream: KindSums(spans) for stream, spans in self.streams.items()}

    @cached_property
    def gpu_sums(self) -> KindSums:
        """All streams in one lane; where several work, what began first is what counts."""
        return KindSums(disjoint(self.launches))

    @cached_property
    def marks_of(self) -> dict[str, tuple[list[float], list[Mark]]]:
        """The marks of each kind, with their moments."""
        found: dict[str, tuple[list[float], list[Mark]]] = {}
        for mark in sorted(self.marks):
            moments, marks = found.setdefault(mark.kind, ([], []))
            moments.append(mark.at_s)
            marks.append(mark)
        return found

    @cached_property
    def memory_sizes(self) -> tuple[list[float], list[int]]:
        return [sample.at_s for sample in self.memory], [sample.size_bytes for sample in self.memory]


# Making lanes


def disjoint(spans: Iterable[Span]) -> list[Span]:
    """The spans in order; where two overlap, the later one begins when the earlier one ends."""
    kept: list[Span] = []
    until_s = 0.0
    for span in sorted(spans):
        begin_s = max(span.begin_s, until_s)
        if span.end_s > begin_s:
            kept.append(span._replace(begin_s=begin_s) if begin_s != span.begin_s else span)
            until_s = span.end_s
    return kept


def over(below: Sequence[Span], above: Sequence[Span]) -> list[Span]:
    """Two lanes in one: what is above hides what is below. In each, spans must not overlap."""
    seen: list[Span] = []
    at = 0
    for span in below:
        begin_s = span.begin_s
        while at < len(above) and above[at].end_s <= begin_s:
            at += 1
        covering = at
        while covering < len(above) and above[covering].begin_s < span.end_s:
            cover = above[covering]
            if cover.begin_s > begin_s:
                seen.append(span._replace(begin_s=begin_s, end_s=cover.begin_s))
            begin_s = max(begin_s, cover.end_s)
            covering += 1
        if span.end_s > begin_s:
            seen.append(span._replace(begin_s=begin_s))
    return sorted([*seen, *above])


def joined(spans: Iterable[Span]) -> list[Span]:
    """The spans with neighbours of the same kind and name made one."""
    kept: list[Span] = []
    for span in spans:
        if kept and kept[-1].end_s >= span.begin_s and kept[-1][2:] == span[2:] and span.kind not in ("wait", "read"):
            kept[-1] = kept[-1]._replace(end_s=max(kept[-1].end_s, span.end_s))
        else:
            kept.append(span)
    return kept


def union(spans: Iterable[Span]) -> list[tuple[float, float]]:
    """The stretches in which there is at least one of the spans."""
    busy: list[tuple[float, float]] = []
    for span in sorted(spans):
        if busy and span.begin_s <= busy[-1][1]:
            busy[-1] = (busy[-1][0], max(busy[-1][1], span.end_s))
        else:
            busy.append((span.begin_s, span.end_s))
    return busy


def most_allocated(memory: tuple[list[float], list[int]], begin_s: float, end_s: float, count: int) -> list[int]:
    """The most that was allocated in each column of a window, in bytes; `memory` as RunView.memory_sizes."""
    moments, sizes = memory
    step_s = (end_s - begin_s) / count
    at = bisect_left(moments, begin_s)
    most: list[int] = []
    for number in range(count):
        until = bisect_left(moments, begin_s + (number + 1) * step_s, lo=at)
        before = sizes[at - 1] if at else 0
        most.append(max(before, max(sizes[at:until], default=0)))
        at = until
    return most
