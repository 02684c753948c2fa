"""What a run did over time, read from the events that the lab wrote down: pure data for the timeline to draw."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

Event = Mapping[str, Any]

CLOSE_S = 0.001
"""Calls of the GPU that follow one another within this time are one stretch of launching; a longer pause is code."""

LONG_GAP = 0.01
"""A gap is long from this share of the run on."""
FEW_GAPS = 10
"""Where no gap is long, so many of the longest ones are."""

HOST_KINDS = {
    "launch": "launches",
    "data": "loads data",
    "backward": "backward",
    "optimizer": "optimizer",
    "copy": "copies",
    "wait": "waits",
    "read": "reads",
    "code": "other code",
}
"""What the host can be seen to do, and the words for it."""
GPU_KINDS = {"kernel": "kernels", "memcpy": "copies", "memset": "fills"}
WAITED_FOR = {
    "start": "the first kernel",
    "end": "nothing: all was done",
    "stream": "another stream",
    "launch": "the next launch",
    "data": "loading data",
    "backward": "backward to launch",
    "optimizer": "the optimizer to launch",
    "copy": "a copy from the host",
    "wait": "the host, which waited",
    "read": "the host, which read a value",
    "code": "other code",
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

    @property
    def duration_s(self) -> float:
        return self.end_s - self.begin_s


class Mark(NamedTuple):
    """Something that happened at one moment."""

    at_s: float
    kind: str
    name: str


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
            return f"the host, still in {self.after}"
        return WAITED_FOR[self.waited_for] + (f" after {self.after}" if self.after else "")


class Column(NamedTuple):
    """What one column of a lane shows: the kind that takes most of its time, and how much of it anything takes."""

    kind: str
    share: float


Timed = TypeVar("Timed", Span, Gap)

EMPTY = Column("", 0.0)


@dataclass(frozen=True)
class RunView:
    """One run: from its first moment, 0, to the end of the last thing that the host or the GPU did."""

    window_s: float
    host: tuple[Span, ...]
    """One after another from 0 to where the program ended, without holes."""
    marks: tuple[Mark, ...]
    streams: dict[int, tuple[Span, ...]]
    """What ran on each stream of the GPU, in order. On a real GPU nothing is known of it."""
    gaps: tuple[Gap, ...]
    busy_s: float
    """How long at least one stream worked."""
    memory: tuple[Allocated, ...] = ()
    """What was allocated at each launch, in order; empty where that isn't known."""
    cut_off: bool = False
    """Whether the program did more than was written down."""

    @property
    def idle_s(self) -> float:
        return math.fsum(gap.duration_s for gap in self.gaps)

    @property
    def peak(self) -> Allocated | None:
        """The first moment at which most memory was allocated."""
        return max(self.memory, key=lambda sample: sample.size_bytes, default=None)

    @property
    def long_gaps(self) -> list[Gap]:
        """The longest gaps, in order of time: few enough to walk through."""
        long = [gap for gap in self.gaps if gap.duration_s >= LONG_GAP * self.window_s]
        return long or sorted(sorted(self.gaps, key=lambda gap: -gap.duration_s)[:FEW_GAPS])

    @property
    def launches(self) -> Iterator[Span]:
        for spans in self.streams.values():
            yield from spans


def view(events: Iterable[Event]) -> RunView:
    """The lanes of a run. Events that lack what they should have are left out."""
    seen = sorted((event for event in events if _number(event, "at_s") is not None), key=lambda event: event["at_s"])
    launched: dict[int, list[tuple[Span, float]]] = {}
    for event in seen:
        begin_s, end_s = _number(event, "begin_s"), _number(event, "end_s")
        if event.get("what") != "launch" or begin_s is None or end_s is None or not end_s > begin_s >= 0:
            continue
        kind = event.get("kind")
        span = Span(begin_s, end_s, str(kind) if kind in GPU_KINDS else "kernel", _text(event, "name"))
        span = span._replace(op=_text(event, "op"))
        stream = event.get("stream")
        launched.setdefault(stream if isinstance(stream, int) else 0, []).append((span, event["at_s"]))
    host, waits = _host(seen)
    streams = {stream: tuple(disjoint(span for span, _ in found)) for stream, found in sorted(launched.items())}
    ends = [host[-1].end_s if host else 0.0, *(spans[-1].end_s for spans in streams.values())]
    busy = _union(span for spans in streams.values() for span in spans)
    launched_s = {span.begin_s: at_s for found in launched.values() for span, at_s in found}
    gaps = tuple(_gaps(busy, max(ends), host, waits, launched_s)) if streams else ()
    return RunView(
        window_s=max(ends),
        host=tuple(host),
        marks=tuple(_marks(seen)),
        streams=streams,
        gaps=gaps,
        busy_s=math.fsum(end_s - begin_s for begin_s, end_s in busy),
        memory=tuple(_memory(seen)),
        cut_off=any(event.get("what") == "cut_off" for event in seen),
    )


def _number(event: Event, name: str, most: float = 1e9) -> float | None:
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if math.isfinite(value) and abs(value) < most else None


def _text(event: Event, name: str) -> str:
    return str(event.get(name) or "?")[:200].removeprefix("torch.cuda.")


def _host(seen: Sequence[Event]) -> tuple[list[Span], list[Span]]:
    """The host's lane, and the stretches in which it waited for the GPU."""
    ground: list[Span] = []
    phases: list[Span] = []
    copies: list[Span] = []
    waits: list[Span] = []
    sees_launches = any(event.get("what") == "launch" for event in seen)
    until_s = 0.0
    for number, event in enumerate(seen):
        what, at_s = event.get("what"), max(event["at_s"], 0.0)
        begin_s = at_s
        if what == "wait":
            following = seen[number + 1] if number + 1 < len(seen) else {}
            read = following.get("what") == "host_read" and following.get("call") == event.get("call")
            begin_s = max(at_s - max(_number(event, "waited_s") or 0.0, 0.0), 0.0)
            waits.append(Span(begin_s, at_s, "read" if read else "wait", _text(event, "call")))
        elif what == "host_phase":
            begin_s = max(at_s - max(_number(event, "lasted_s") or 0.0, 0.0), 0.0)
            kind = event.get("kind")
            if kind in HOST_KINDS:
                phases.append(Span(begin_s, at_s, str(kind), HOST_KINDS[str(kind)]))
        elif what == "copy_to_gpu" and event.get("blocking"):
            before = seen[number - 1] if number else {}
            if before.get("what") == "launch" and before.get("kind") == "memcpy":
                begin_s = max(before["at_s"], 0.0)
                copies.append(Span(begin_s, at_s, "copy", _text(event, "call")))
        if begin_s > until_s:
            close = what not in ("clock_read", "label", "cut_off") and begin_s - until_s <= CLOSE_S
            kind = "launch" if close and sees_launches else "code"
            ground.append(Span(until_s, begin_s, kind, HOST_KINDS[kind]))
        if at_s > max(until_s, begin_s):  # hidden below, unless something overlaps that shouldn't
            ground.append(Span(max(until_s, begin_s), at_s, "code", HOST_KINDS["code"]))
        until_s = max(until_s, at_s)
    waits = disjoint(waits)
    lane = over(over(over(ground, disjoint(phases)), disjoint(copies)), waits)
    return joined(lane), waits


def disjoint(spans: Iterable[Span]) -> list[Span]:
    """The spans in order; where two overlap, the later one begins when the earlier one ends."""
    kept: list[Span] = []
    until_s = 0.0
    for span in sorted(spans):
        begin_s = max(span.begin_s, until_s)
        if span.end_s > begin_s:
            kept.append(span._replace(begin_s=begin_s))
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


def _union(spans: Iterable[Span]) -> list[tuple[float, float]]:
    busy: list[tuple[float, float]] = []
    for span in sorted(spans):
        if busy and span.begin_s <= busy[-1][1]:
            busy[-1] = (busy[-1][0], max(busy[-1][1], span.end_s))
        else:
            busy.append((span.begin_s, span.end_s))
    return busy


def _gaps(
    busy: Sequence[tuple[float, float]],
    window_s: float,
    host: Sequence[Span],
    waits: Sequence[Span],
    launched_s: Mapping[float, float],
) -> Iterator[Gap]:
    """The stretches between the busy ones, each with what the GPU waited for in it."""
    begins = [0.0, *(end_s for _, end_s in busy)]
    ends = [*(begin_s for begin_s, _ in busy), window_s]
    for number, (begin_s, end_s) in enumerate(zip(begins, ends, strict=True)):
        if not end_s > begin_s:
            continue
        if number == len(busy):
            yield Gap(begin_s, end_s, "end")
            continue
        did = _longest_kind(host, begin_s, end_s)
        if number == 0:
            waited_for = "start"
        elif launched_s.get(end_s, end_s) < begin_s:
            waited_for = "stream"  # the host had done its part before the gap began
        else:
            waited_for = did or "launch"
        yield Gap(begin_s, end_s, waited_for, _waiting_at(waits, begin_s) if number else "")


def _longest_kind(spans: Sequence[Span], begin_s: float, end_s: float) -> str:
    """The kind that takes most of this time."""
    kinds: dict[str, float] = {}
    for span in within(spans, begin_s, end_s):
        kinds[span.kind] = kinds.get(span.kind, 0.0) + min(span.end_s, end_s) - max(span.begin_s, begin_s)
    return max(kinds, key=lambda kind: kinds[kind], default="")


def _waiting_at(waits: Sequence[Span], at_s: float) -> str:
    """The call that waits at this moment, or whose wait ends just then."""
    number = bisect_right(waits, at_s, key=lambda span: span.begin_s) - 1
    return waits[number].name if number >= 0 and at_s <= waits[number].end_s else ""


def _marks(seen: Iterable[Event]) -> Iterator[Mark]:
    for event in seen:
        what, at_s = event.get("what"), max(event["at_s"], 0.0)
        if what == "label" and event.get("phase") == "entered":
            yield Mark(at_s, "label", _text(event, "name"))
        elif what == "clock_read":
            yield Mark(at_s, "clock", _text(event, "call"))
        elif what in ("profiler_start", "profiler_stop"):
            yield Mark(at_s, "profiler", "profiler starts" if what == "profiler_start" else "profiler stops")


def _memory(seen: Iterable[Event]) -> Iterator[Allocated]:
    """At each launch the most since the launch before, then what is left of it."""
    for event in seen:
        for size_bytes in (_number(event, name, most=1e18) for name in ("peak_bytes", "allocated_bytes")):
            if event.get("what") == "launch" and size_bytes is not None and size_bytes >= 0:
                yield Allocated(max(event["at_s"], 0.0), int(size_bytes))


# Looking things up


def at(spans: Sequence[Timed], at_s: float) -> Timed | None:
    """What goes on at this moment."""
    number = bisect_right(spans, at_s, key=lambda span: span.begin_s) - 1
    return spans[number] if number >= 0 and at_s < spans[number].end_s else None


def within(spans: Sequence[Timed], begin_s: float, end_s: float) -> Iterator[Timed]:
    """The spans of a lane of which anything lies in this window."""
    for number in range(max(bisect_right(spans, begin_s, key=lambda span: span.begin_s) - 1, 0), len(spans)):
        span = spans[number]
        if span.begin_s >= end_s:
            return
        if span.end_s > begin_s:
            yield span


def columns(spans: Sequence[Span], begin_s: float, end_s: float, count: int) -> list[Column]:
    """The window of a lane cut into so many columns."""
    step_s = (end_s - begin_s) / count
    kinds: list[dict[str, float]] = [{} for _ in range(count)]
    for span in within(spans, begin_s, end_s):
        first = max(int((span.begin_s - begin_s) / step_s), 0)
        last = min(int((span.end_s - begin_s) / step_s), count - 1)
        for number in range(first, last + 1):
            left_s = begin_s + number * step_s
            covered_s = min(span.end_s, left_s + step_s) - max(span.begin_s, left_s)
            if covered_s > 0:
                kinds[number][span.kind] = kinds[number].get(span.kind, 0.0) + covered_s
    return [
        Column(max(found, key=lambda kind: found[kind]), min(sum(found.values()) / step_s, 1.0)) if found else EMPTY
        for found in kinds
    ]


def most_allocated(memory: Sequence[Allocated], begin_s: float, end_s: float, count: int) -> list[int]:
    """The most that was allocated in each column of a window, in bytes."""
    step_s = (end_s - begin_s) / count
    at = bisect_left(memory, begin_s, key=lambda sample: sample.at_s)
    before = memory[at - 1].size_bytes if at else 0
    most: list[int] = []
    for number in range(count):
        highest = before
        while at < len(memory) and memory[at].at_s < begin_s + (number + 1) * step_s:
            before = memory[at].size_bytes
            highest = max(highest, before)
            at += 1
        most.append(highest)
    return most
