"""A trace as lanes to draw, in arrays: what the process that reads it hands to the app."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from course.lanes import FEW_GAPS, HOST_KINDS, LONG_GAP
from course.trace_averages import Averages, averages
from lab.trace.attribute import DeviceTime, Idle
from lab.trace.causes import CAUSES
from lab.trace.events import DEVICE, Flags, Ints, Kind
from lab.trace.examine import Examined
from lab.trace.intervals import Spans, layered, union

MOST_SPANS = 200_000
"""Of a lane; where there are more, neighbours are drawn together."""
MOST_LABELS = 2_000
MOST_ROWS = 500

GPU_KIND = {Kind.COMPUTE: "kernel", Kind.COMMUNICATION: "collective", Kind.COPY: "memcpy"}
WAITED_FOR = {
    "input": "data",
    "launch": "launch",
    "sync": "sync",
    "copies": "copy",
    "allocator": "alloc",
    "device_wait": "stream",
    "python": "code",
    "unknown": "unknown",
}
"""What each cause is called among those of a run."""
BACKWARD = re.compile(r"^autograd::engine::evaluate_function|Backward\d*$")
OPTIMIZER = re.compile(r"^Optimizer\.step#")
FORWARD = re.compile(r"forward|^nn\.Module: ", re.I)
OWN = re.compile(r"^(?:Optimizer\.|ProfilerStep#|enumerate\(|autograd::|DataParallel|nccl:|c10d::|record_param_comms)")
"""Annotations that aren't the program's own."""


@dataclass
class Lane:
    """Spans in order, in columns; kinds and names are numbers of a list."""

    begin_s: npt.NDArray[np.float64]
    end_s: npt.NDArray[np.float64]
    kind: npt.NDArray[np.int32]
    name: npt.NDArray[np.int32]
    busy_s: npt.NDArray[np.float64]
    op: npt.NDArray[np.int32] | None = None
    count: npt.NDArray[np.int32] | None = None
    """How many are drawn together in each, where there were too many."""

    def __len__(self) -> int:
        return len(self.begin_s)


@dataclass
class Texts:
    """Names, each with a number."""

    numbers: dict[str, int] = field(default_factory=dict)

    def of(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


@dataclass
class DeviceLanes:
    """What is drawn of one device."""

    device: int
    name: str
    streams: dict[int, Lane]
    together: Lane
    gaps: Lane
    long_gaps: list[int]
    busy_s: float
    kernel_sums: list[tuple[str, int, float, float]]
    idle_sums: list[tuple[int, int, int, float, float]]
    """Number of the cause, of the call before (-1: none), how often, in all, the longest."""


def coarse(lane: Lane) -> Lane:
    """The lane with neighbours together where there are too many; how busy each is stays right."""
    most = -(-len(lane) // MOST_SPANS)
    if most <= 1:
        return lane
    first = np.arange(0, len(lane), most)
    last = np.append(first[1:], len(lane)) - 1
    return Lane(
        lane.begin_s[first],
        lane.end_s[last],
        lane.kind[first],
        lane.name[first],
        np.add.reduceat(lane.busy_s, first),
        None if lane.op is None else lane.op[first],
        (last - first + 1).astype(np.int32),
    )


class Lanes:
    """Everything that is drawn of one trace."""

    def __init__(self, examined: Examined) -> None:
        self.examined = examined
        self.trace = examined.trace
        self.texts = Texts()
        self.averages: Averages = averages(examined)
        self.name_numbers = np.array([self.texts.of(name) for name in self.trace.names] or [0], np.int32)
        self.begin_ns, self.length_s = examined.window.begin_ns, examined.window.length_ns / 1e9

    def _s(self, ns: Ints) -> npt.NDArray[np.float64]:
        return (ns - self.begin_ns) / 1e9

    # The host

    def host(self) -> Lane:
        """What the threads that launch work did, one thing above the other."""
        trace, host, window = self.trace, self.examined.host, self.examined.window
        if not host.recorded:
            nothing = np.empty(0, np.int64)
            return self._lane(nothing, nothing, np.empty(0, np.int32), np.empty(0, np.int32))
        ours = np.isin(trace.thread, host.threads)
        phases: dict[str, Spans] = {
            "wait": host.layers[Idle.BLOCKING],
            "alloc": host.layers[Idle.ALLOCATING],
            "copy": host.layers[Idle.COPYING],
            "data": host.loader,
            "optimizer": self._named(OPTIMIZER),
            "backward": self._named(BACKWARD),
            "forward": self._named(FORWARD, ours, (Kind.ANNOTATION, Kind.PYTHON)),
        }
        launching = union(
            np.concatenate([host.layers[each].begin for each in (Idle.CALL, Idle.OPERATOR)]),
            np.concatenate([host.layers[each].end for each in (Idle.CALL, Idle.OPERATOR)]),
        )
        names = [*phases, "launch"]
        whole = Spans(np.array([window.begin_ns]), np.array([window.end_ns]))
        begin, end, number = layered(whole, [*phases.values(), launching])
        kinds = np.array([self.texts.of(name) for name in (*names, "code")], np.int32)
        texts = np.array([self.texts.of(HOST_KINDS[name]) for name in (*names, "code")], np.int32)
        name = texts[number]
        for which, events in ((0, Kind.BLOCKING), (1, Kind.ALLOCATING), (2, Kind.COPYING)):
            self._by_event(name, begin, number == which, ours & trace.of(events))
        return coarse(self._lane(begin, end, kinds[number], name))

    def _by_event(self, name: npt.NDArray[np.int32], begin: Ints, chosen: Flags, events: Flags) -> None:
        """Give the chosen segments the names of the calls that they are."""
        index = np.flatnonzero(events)
        if len(index) and chosen.any():
            place = np.maximum(np.searchsorted(self.trace.begin_ns[index], begin[chosen], "right") - 1, 0)
            name[chosen] = self.name_numbers[self.trace.name[index[place]]]

    def _named(
        self,
        pattern: re.Pattern[str],
        among: Flags | None = None,
        kinds: tuple[Kind, ...] = (Kind.ANNOTATION, Kind.OPERATOR),
    ) -> Spans:
        trace = self.trace
        named = np.array([bool(pattern.search(name)) for name in trace.names] or [False])[trace.name]
        chosen = named & trace.of(*kinds)
        if among is not None:
            chosen &= among
        return union(trace.begin_ns[chosen], trace.end_ns[chosen])

    def _lane(
        self,
        begin: Ints,
        end: Ints,
        kind: npt.NDArray[np.int32],
        name: npt.NDArray[np.int32],
        op: npt.NDArray[np.int32] | None = None,
    ) -> Lane:
        begin_s, end_s = self._s(begin), self._s(end)
        return Lane(begin_s, end_s, kind, name, end_s - begin_s, op)

    def marks(self) -> list[tuple[float, str, str, float]]:
        """The program's own regions and the profiler's steps, the longest ones."""
        trace, window = self.trace, self.examined.window
        chosen = np.isin(trace.thread, self.examined.host.threads) & trace.of(Kind.ANNOTATION, Kind.STEP)
        chosen &= (trace.begin_ns < window.end_ns) & (trace.end_ns > window.begin_ns)
        own = np.array([not OWN.search(name) or name.startswith("ProfilerStep#") for name in trace.names] or [False])
        index = np.flatnonzero(chosen & own[trace.name])
        lasts = trace.end_ns[index] - trace.begin_ns[index]
        index = np.sort(index[np.argsort(-lasts, kind="stable")[:MOST_LABELS]])
        begins = np.maximum(self._s(trace.begin_ns[index]), 0.0).tolist()
        ends = np.minimum(self._s(trace.end_ns[index]), self.length_s).tolist()
        names = [trace.names[number] for number in trace.name[index].tolist()]
        return [(at_s, "label", name[:200], until_s) for at_s, until_s, name in zip(begins, ends, names, strict=True)]

    def steps(self) -> list[tuple[float, float]]:
        window = self.examined.window
        begins, ends = self._s(window.step_begin_ns).tolist(), self._s(window.step_end_ns).tolist()
        return list(zip(begins, ends, strict=True))[:MOST_LABELS]

    # The devices

    def devices(self) -> Iterator[DeviceLanes]:
        for time in self.examined.times:
            yield self._device(time)

    def _device(self, time: DeviceTime) -> DeviceLanes:
        trace, work, window = self.trace, self.examined.work, self.examined.window
        ours = np.flatnonzero(
            (trace.device[work.index] == time.device)
            & (work.end_ns > window.begin_ns)
            & (work.begin_ns < window.end_ns)
            & (work.end_ns > work.begin_ns)
        )
        streams = trace.stream[work.index[ours]]
        lanes = {
            self._stream_number(int(stream)): self._stream(ours[streams == stream]) for stream in np.unique(streams)
        }
        busy = self._lane(
            time.busy_begin, time.busy_end, self._kinds(time.busy_kind), np.zeros(len(time.busy_begin), np.int32)
        )
        gaps, long_gaps, idle_sums = self._gaps(time)
        return DeviceLanes(
            device=time.device,
            name=trace.device_names.get(time.device, ""),
            streams={stream: coarse(lane) for stream, lane in lanes.items()},
            together=coarse(busy),
            gaps=gaps,
            long_gaps=long_gaps,
            busy_s=time.busy_ns / 1e9,
            kernel_sums=self._kernel_sums(ours),
            idle_sums=idle_sums,
        )

    def _stream_number(self, stream: int) -> int:
        """The number that the file gives a stream; where it gives none, our own, which are negative then."""
        told = self.trace.streams[stream] if stream < len(self.trace.streams) else ""
        return told if isinstance(told, int) and told >= 0 else -1 - stream

    def _kinds(self, busy_kind: npt.NDArray[np.int8]) -> npt.NDArray[np.int32]:
        numbers = np.array([self.texts.of(GPU_KIND[Kind(kind)]) for kind in DEVICE], np.int32)
        return numbers[busy_kind]

    def _stream(self, chosen: npt.NDArray[np.intp]) -> Lane:
        """What ran on one stream, without overlaps: what comes later begins when the earlier has ended."""
        trace, work, window = self.trace, self.examined.work, self.examined.window
        begin = np.maximum(work.begin_ns[chosen], window.begin_ns)
        end = np.minimum(work.end_ns[chosen], window.end_ns)
        before = np.concatenate(([window.begin_ns], np.maximum.accumulate(end)[:-1]))
        begin = np.maximum(begin, before)
        kept = end > begin
        chosen, begin, end = chosen[kept], begin[kept], end[kept]
        kinds = self._kinds(trace.kind[work.index[chosen]])
        fills = np.array(["memset" in name.lower() for name in trace.names] or [False])
        kinds[fills[trace.name[work.index[chosen]]]] = self.texts.of("memset")
        ops = self.averages.op_of_work[chosen]
        op = np.where(ops >= 0, self.name_numbers[np.maximum(ops, 0)], self.texts.of(""))
        return self._lane(begin, end, kinds, self.name_numbers[trace.name[work.index[chosen]]], op.astype(np.int32))

    def _gaps(self, time: DeviceTime) -> tuple[Lane, list[int], list[tuple[int, int, int, float, float]]]:
        """The idle segments, with the call before; which of them are long; and their sums."""
        causes = np.array([self.texts.of(WAITED_FOR[CAUSES[Idle(each)]]) for each in range(len(Idle))], np.int32)
        kind = causes[time.idle]
        after = np.full(len(kind), -1, np.int32)
        number = np.searchsorted(time.gaps.begin, time.idle_begin, "right") - 1
        wait = time.wait[number] if len(time.gaps.begin) else np.empty(0, np.intp)
        known = (wait >= 0) & np.isin(time.idle, (Idle.DRAINED, Idle.DRAINED_BY_FREE))
        after[known] = self.name_numbers[self.trace.name[wait[known]]]
        # Neighbours with the same reason, which only the order of asking had cut, are one.
        begin, end = time.idle_begin, time.idle_end
        if len(begin):
            first = np.concatenate(
                ([True], (begin[1:] != end[:-1]) | (kind[1:] != kind[:-1]) | (after[1:] != after[:-1]))
            )
            last = np.concatenate((first[1:], [True]))
            begin, end, kind, after = begin[first], end[last], kind[first], after[first]
        lane = self._lane(begin, end, kind, after)
        lasts = lane.busy_s
        long = np.flatnonzero(lasts >= LONG_GAP * self.length_s)
        if not len(long):
            long = np.sort(np.argsort(-lasts, kind="stable")[:FEW_GAPS])
        sums = []
        for each in np.unique(np.stack((kind, after), axis=1), axis=0) if len(kind) else ():
            chosen = (kind == each[0]) & (after == each[1])
            total_s, longest_s = float(lasts[chosen].sum()), float(lasts[chosen].max())
            sums.append((int(each[0]), int(each[1]), int(chosen.sum()), total_s, longest_s))
        if len(lane) > MOST_SPANS:
            kept = np.sort(np.argsort(-lasts, kind="stable")[:MOST_SPANS])
            long = np.searchsorted(kept, long)
            lane = Lane(lane.begin_s[kept], lane.end_s[kept], kind[kept], after[kept], lasts[kept])
        return lane, long.tolist(), sorted(sums, key=lambda row: -row[3])[:MOST_ROWS]

    def _kernel_sums(self, ours: npt.NDArray[np.intp]) -> list[tuple[str, int, float, float]]:
        """Kernels and copies by name: how often, in all, the longest."""
        trace, work = self.trace, self.examined.work
        names = trace.name[work.index[ours]]
        lasts = (work.end_ns - work.begin_ns)[ours] / 1e9
        numbers, places, counts = np.unique(names, return_inverse=True, return_counts=True)
        totals = np.bincount(places, weights=lasts, minlength=len(numbers))
        longest = np.zeros(len(numbers))
        np.maximum.at(longest, places, lasts)
        rows = [
            (trace.names[number][:200], int(count), float(total), float(most))
            for number, count, total, most in zip(numbers, counts, totals, longest, strict=True)
        ]
        return sorted(rows, key=lambda row: -row[2])[:MOST_ROWS]


def plain_device(lanes: DeviceLanes) -> dict[str, Any]:
    """What of a device isn't in arrays."""
    return {
        "device": lanes.device,
        "name": lanes.name,
        "streams": list(lanes.streams),
        "long_gaps": lanes.long_gaps,
        "busy_s": lanes.busy_s,
        "kernel_sums": lanes.kernel_sums,
        "idle_sums": lanes.idle_sums,
    }
