"""What a run did over time, read from the events that the lab wrote down: pure data for the timeline to draw."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from course.lanes import (
    HOST_KINDS,
    Alive,
    Allocated,
    Average,
    Gap,
    Lane,
    Mark,
    RunView,
    Span,
    disjoint,
    joined,
    over,
    union,
)
from lab.language import N_

Event = Mapping[str, Any]

CLOSE_S = 0.001
"""Calls of the GPU that follow one another within this time are one stretch of launching; a longer pause is code."""
NO_CALLS = ("clock_read", "label", "cut_off", "alive_at_peak", "key_averages")
"""Events that tell nothing of the GPU's being called."""
FEWEST_STEPS = 3
LABELS = {
    "forward": "forward",
    "backward": "backward",
    "optimizer": "optimizer",
    "optimizer step": "optimizer",
    "optimizer.step": "optimizer",
    "optim": "optimizer",
    "data": "data",
    "load": "data",
    "load data": "data",
    "data loading": "data",
    "dataloader": "data",
}
"""Labels of a program, in lower case and with spaces, that say what the host does."""
NUMBERS = (
    "self_cpu_us",
    "cpu_us",
    "self_device_us",
    "device_us",
    "self_cpu_bytes",
    "cpu_bytes",
    "self_device_bytes",
    "device_bytes",
)


def view(events: Iterable[Event]) -> RunView:
    """The lanes of a run. Events that lack what they should have are left out."""
    seen = sorted((event for event in events if _number(event, "at_s") is not None), key=lambda event: event["at_s"])
    launched: dict[int, list[Span]] = {}
    for event in seen:
        begin_s, end_s = _number(event, "begin_s"), _number(event, "end_s")
        if event.get("what") != "launch" or begin_s is None or end_s is None or not end_s > begin_s >= 0:
            continue
        kind = event.get("kind")
        kind = str(kind) if kind in ("kernel", "memcpy", "memset") else "kernel"
        span = Span(begin_s, end_s, kind, _text(event, "name"), _text(event, "op"), event["at_s"])
        stream = event.get("stream")
        launched.setdefault(stream if isinstance(stream, int) else 0, []).append(span)
    ground, host, waits = _host(seen)
    streams = {stream: tuple(disjoint(found)) for stream, found in sorted(launched.items())}
    ends = [host[-1].end_s if host else 0.0, *(spans[-1].end_s for spans in streams.values())]
    busy = union(span for spans in streams.values() for span in spans)
    launched_s = {span.begin_s: span.launched_s for found in launched.values() for span in found}
    gaps = tuple(_gaps(busy, max(ends), Lane(host), Lane(waits), launched_s)) if streams else ()
    return RunView(
        window_s=max(ends),
        host=tuple(host),
        marks=tuple(sorted(_marks(seen))),
        streams=streams,
        gaps=gaps,
        busy_s=math.fsum(end_s - begin_s for begin_s, end_s in busy),
        memory=tuple(_memory(seen)),
        alive=tuple(_alive(seen)),
        averages=tuple(_averages(seen)),
        calls=tuple(ground),
        steps=_steps(seen),
        cut_off=any(event.get("what") == "cut_off" for event in seen),
    )


def _number(event: Event, name: str, most: float = 1e9) -> float | None:
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if abs(value) < most else None  # which is true of no nan, and of no whole number beyond all floats


def _text(event: Event, name: str) -> str:
    return str(event.get(name) or "?")[:200].removeprefix("torch.cuda.")


def _host(seen: Sequence[Event]) -> tuple[list[Span], list[Span], list[Span]]:
    """What the host does below everything else, its lane, and the stretches in which it waited for the GPU."""
    ground: list[Span] = []
    phases: list[Span] = []
    calls: list[Span] = []
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
        elif what == "host_phase" or (what == "label" and event.get("phase") == "left"):
            kind = event.get("kind") if what == "host_phase" else _kind_of_label(event)
            began_s = max(at_s - max(_number(event, "lasted_s") or 0.0, 0.0), 0.0)
            if isinstance(kind, str) and kind in HOST_KINDS:
                (calls if kind == "alloc" else phases).append(Span(began_s, at_s, kind, HOST_KINDS[kind]))
                begin_s = began_s
        elif what == "cache_emptied":
            begin_s = max(at_s - max(_number(event, "lasted_s") or 0.0, 0.0), 0.0)
            calls.append(Span(begin_s, at_s, "alloc", _text(event, "call")))
        elif what == "copy_to_gpu" and event.get("blocking"):
            before = seen[number - 1] if number else {}
            if before.get("what") == "launch" and before.get("kind") == "memcpy":
                begin_s = max(before["at_s"], 0.0)
                calls.append(Span(begin_s, at_s, "copy", _text(event, "call")))
        if what in ("alive_at_peak", "key_averages"):
            continue  # of the run as a whole
        if begin_s > until_s:
            close = what not in NO_CALLS and begin_s - until_s <= CLOSE_S
            kind = "launch" if close and sees_launches else "code"
            ground.append(Span(until_s, begin_s, kind, HOST_KINDS[kind]))
        if at_s > max(until_s, begin_s):  # hidden below, unless something overlaps that shouldn't
            ground.append(Span(max(until_s, begin_s), at_s, "code", HOST_KINDS["code"]))
        until_s = max(until_s, at_s)
    waits = disjoint(waits)
    lane = over(over(over(ground, disjoint(phases)), disjoint(calls)), waits)
    return joined(ground), joined(lane), waits


def _kind_of_label(event: Event) -> str | None:
    """What the host does in a region whose name says it."""
    return LABELS.get(_text(event, "name").strip().lower().replace("_", " "))


def _gaps(
    busy: Sequence[tuple[float, float]],
    window_s: float,
    host: Lane[Span],
    waits: Lane[Span],
    launched_s: Mapping[float, float],
) -> Iterator[Gap]:
    """The stretches between the busy ones, each with what the GPU waited for in it."""
    begins = [0.0, *(end_s for _, end_s in busy)]
    ends = [*(begin_s for begin_s, _ in busy), window_s]
    for number, (begin_s, end_s) in enumerate(zip(begins, ends, strict=True)):
        if not end_s > begin_s:
            continue
        if number == len(busy):
            yield Gap(begin_s, end_s, "end", _waiting_at(waits, begin_s) if number else "")
            continue
        did = _longest_kind(host, begin_s, end_s)
        if number == 0:
            waited_for = "start"
        elif launched_s.get(end_s, end_s) < begin_s:
            waited_for = "stream"  # the host had done its part before the gap began
        else:
            waited_for = did or "launch"
        yield Gap(begin_s, end_s, waited_for, _waiting_at(waits, begin_s) if number else "")


def _longest_kind(host: Lane[Span], begin_s: float, end_s: float) -> str:
    """The kind that takes most of this time."""
    kinds: dict[str, float] = {}
    for span in host.within(begin_s, end_s):
        kinds[span.kind] = kinds.get(span.kind, 0.0) + min(span.end_s, end_s) - max(span.begin_s, begin_s)
    return max(kinds, key=lambda kind: kinds[kind], default="")


def _waiting_at(waits: Lane[Span], at_s: float) -> str:
    """The call that waits at this moment, or whose wait ends just then."""
    number = bisect_right(waits.begins, at_s) - 1
    return waits.spans[number].name if number >= 0 and at_s <= waits.spans[number].end_s else ""


def _marks(seen: Iterable[Event]) -> Iterator[Mark]:
    """The program's own regions, clock reads and profilers. A region that was never left has no end."""
    entered: dict[str, list[float]] = {}
    for event in seen:
        what, at_s = event.get("what"), max(event["at_s"], 0.0)
        if what == "label" and event.get("phase") == "entered":
            entered.setdefault(_text(event, "name"), []).append(at_s)
        elif what == "label" and event.get("phase") == "left":
            name = _text(event, "name")
            if entered.get(name):
                yield Mark(entered[name].pop(), "label", name, at_s)
        elif what == "clock_read":
            yield Mark(at_s, "clock", _text(event, "call"))
        elif what in ("profiler_start", "profiler_stop"):
            yield Mark(at_s, "profiler", N_("profiler starts") if what == "profiler_start" else N_("profiler stops"))
    for name, moments in entered.items():
        for at_s in moments:
            yield Mark(at_s, "label", name)


def _steps(seen: Iterable[Event]) -> tuple[tuple[float, float], ...]:
    """The steps, told by the profiler's steps or, without them, by the ends of the optimizer's."""
    profiler, optimizer = list[float](), list[float]()
    for event in seen:
        if event.get("what") == "profiler_step":
            profiler.append(max(event["at_s"], 0.0))
        elif event.get("what") == "host_phase" and event.get("kind") == "optimizer":
            optimizer.append(max(event["at_s"], 0.0))
    for ends in (profiler, optimizer):
        steps = tuple((before, after) for before, after in pairwise(ends) if after > before)
        if len(steps) >= FEWEST_STEPS - 1:
            return steps
    return ()


# Memory and the profiler's table


def _memory(seen: Iterable[Event]) -> Iterator[Allocated]:
    """At each launch the most since the launch before, then what is left of it."""
    for event in seen:
        for size_bytes in (_number(event, name, most=1e18) for name in ("peak_bytes", "allocated_bytes")):
            if event.get("what") == "launch" and size_bytes is not None and size_bytes >= 0:
                yield Allocated(max(event["at_s"], 0.0), int(size_bytes))


def _rows(seen: Iterable[Event], what: str) -> Iterator[Event]:
    """The rows of the last event of this kind."""
    last = next((event for event in reversed(list(seen)) if event.get("what") == what), {})
    rows = last.get("rows")
    yield from (row for row in rows if isinstance(row, Mapping)) if isinstance(rows, Sequence) else ()


def _alive(seen: Iterable[Event]) -> Iterator[Alive]:
    for row in _rows(seen, "alive_at_peak"):
        size_bytes, count, shape = _number(row, "bytes", most=1e18), _number(row, "count"), row.get("shape")
        if size_bytes is not None and count is not None and size_bytes >= 0:
            sizes = tuple(each for each in shape if isinstance(each, int)) if isinstance(shape, Sequence) else ()
            role, op, label = (str(row.get(name) or "")[:200] for name in ("role", "op", "label"))
            yield Alive(role, op, label, sizes, str(row.get("dtype") or "")[:30], int(count), int(size_bytes))


def _averages(seen: Iterable[Event]) -> Iterator[Average]:
    for row in _rows(seen, "key_averages"):
        calls = _number(row, "calls")
        numbers = [_number(row, name, most=1e18) for name in NUMBERS]
        if calls is not None:
            sizes = [None if each is None else int(each) for each in numbers[4:]]
            yield Average(_text(row, "name"), int(calls), *numbers[:4], *sizes)  # type: ignore[arg-type]
