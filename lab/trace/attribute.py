"""What each device did at each moment of the window, and what its idle time waited for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from lab.trace.events import Flags, Ints, Kind, Trace
from lab.trace.intervals import NOTHING, Spans, active, clipped, layered, union
from lab.trace.links import Work
from lab.trace.steps import Window

SKEW_NS = 5_000  # the clocks of host and device agree to a few microseconds
BLOCKING_COPY_NS = 50_000
BLOCKING_COPY_TIMES = 5
# What a launch needs from the end of its call to the begin of its kernel on an idle device.
LATENCY_NS = 10_000


class Idle(IntEnum):
    """What an idle moment of the device waited for."""

    DEVICE = 0
    DRAINED = 1
    DRAINED_BY_FREE = 2
    LOADER = 3
    BLOCKING = 4
    ALLOCATING = 5
    COPYING = 6
    CALL = 7
    OPERATOR = 8
    ANNOTATION = 9
    PYTHON = 10
    NOTHING = 11


@dataclass(frozen=True)
class DeviceTime:
    """One device's window: three kinds of work and the idle segments, each with what it waited for."""

    device: int
    window: Window
    compute_ns: int
    communication_ns: int
    copies_ns: int
    gaps: Spans
    next_work: npt.NDArray[np.intp]  # of each gap: the place in Work of what ended it; -1 at the window's end
    idle_begin: Ints
    idle_end: Ints
    idle: npt.NDArray[np.int8]

    def idle_ns(self, *what: Idle) -> int:
        chosen = np.isin(self.idle, what)
        return int((self.idle_end[chosen] - self.idle_begin[chosen]).sum())


def device_times(trace: Trace, work: Work, window: Window) -> list[DeviceTime]:
    """Each device's time, for all devices that did something in the window."""
    devices = trace.device[work.index]
    host = Host(trace, work, window)
    inside = (work.begin_ns < window.end_ns) & (work.end_ns > window.begin_ns)
    return [_device_time(trace, work, window, int(device), host) for device in np.unique(devices[inside])]


def _device_time(trace: Trace, work: Work, window: Window, device: int, host: Host) -> DeviceTime:
    whole = Spans(np.array([window.begin_ns]), np.array([window.end_ns]))
    ours = np.flatnonzero((trace.device[work.index] == device) & (work.end_ns > work.begin_ns))
    kinds = trace.kind[work.index[ours]]
    busy = [
        clipped(union(work.begin_ns[ours[kinds == kind]], work.end_ns[ours[kinds == kind]]), *_ends(window))
        for kind in (Kind.COMPUTE, Kind.COMMUNICATION, Kind.COPY)
    ]
    begin, end, what = layered(whole, busy)
    parts = [int((end[what == each] - begin[what == each]).sum()) for each in range(3)]
    gaps = Spans(begin[what == -1], end[what == -1])
    following = _next_work(work, ours, gaps.end)
    segments = host.blamed(work, gaps, following)
    return DeviceTime(device, window, parts[0], parts[1], parts[2], gaps, following, *segments)


def _ends(window: Window) -> tuple[int, int]:
    return window.begin_ns, window.end_ns


def _next_work(work: Work, ours: npt.NDArray[np.intp], at: Ints) -> npt.NDArray[np.intp]:
    """Which of our work begins at each of these times; where several do, the one that was launched first."""
    order = np.lexsort((work.launch_begin_ns[ours], work.begin_ns[ours]))
    ours = ours[order]
    if not len(ours):
        return np.full(len(at), -1, np.intp)
    found = np.minimum(np.searchsorted(work.begin_ns[ours], at), len(ours) - 1)
    return np.where(work.begin_ns[ours[found]] == at, ours[found], -1)


class Host:
    """What the threads that matter did: the main one, and those that launch work."""

    def __init__(self, trace: Trace, work: Work, window: Window) -> None:
        launching = set(np.unique(trace.thread[work.launch[work.linked]]).tolist())
        main = launching if window.main_thread is None else {window.main_thread}
        self.trace = trace
        self.threads = sorted(launching | main)
        matters = np.isin(trace.thread, self.threads)
        blocking = self._blocking_copies(work) | trace.of(Kind.BLOCKING)
        freeing = trace.of(Kind.ALLOCATING) & self._named("free") & (trace.end_ns - trace.begin_ns > BLOCKING_COPY_NS)
        self.waits = np.flatnonzero(matters & (blocking | freeing))
        self.loader = self._spans(trace.of(Kind.LOADER) & np.isin(trace.thread, sorted(main)))
        self.layers = [
            self.loader,
            self._spans(matters & blocking),
            *(
                self._spans(matters & trace.of(kind))
                for kind in (Kind.ALLOCATING, Kind.COPYING, Kind.RUNTIME, Kind.OPERATOR, Kind.ANNOTATION, Kind.PYTHON)
            ),
        ]

    def _spans(self, chosen: Flags) -> Spans:
        return union(self.trace.begin_ns[chosen], self.trace.end_ns[chosen])

    def _named(self, part: str) -> Flags:
        return np.array([part in name.lower() for name in self.trace.names] or [False])[self.trace.name]

    def _blocking_copies(self, work: Work) -> Flags:
        """Calls that copy and last far longer than their copy: they waited for what was queued before."""
        trace = self.trace
        lasts = trace.end_ns - trace.begin_ns
        copy_ns = np.zeros(len(trace), np.int64)
        np.maximum.at(copy_ns, work.launch[work.linked], (work.end_ns - work.begin_ns)[work.linked])
        blocking: Flags = (
            trace.of(Kind.COPYING) & (lasts > BLOCKING_COPY_NS) & (lasts > BLOCKING_COPY_TIMES * copy_ns)
        )
        return blocking

    def blamed(
        self, work: Work, gaps: Spans, following: npt.NDArray[np.intp]
    ) -> tuple[Ints, Ints, npt.NDArray[np.int8]]:
        """The gaps, cut into segments, each with what it waited for."""
        linked = (following >= 0) & work.linked[following]
        # Up to its launch a kernel waits for the host, after that for the device or for something on it.
        ready = np.where(linked, work.launch_end_ns[following] + LATENCY_NS, gaps.end)
        host_end = np.clip(ready, gaps.begin, gaps.end)
        on_device = _some(host_end, gaps.end)
        drained = [_some(gaps.begin, end) for end in self._drained(gaps, host_end)]
        begin, end, what = layered(gaps, [on_device, *drained, *self.layers])
        what[what == -1] = Idle.NOTHING
        return begin, end, what

    def _drained(self, gaps: Spans, host_end: Ints) -> tuple[Ints, Ints]:
        """Up to where a wait for the device, and up to where giving memory back, is to blame for each gap.

        A call that waited until the device had done all its work is to blame for what follows: without it, the next
        work would have been queued already. From where the host waits for data, the data is.
        """
        trace = self.trace
        ends = [gaps.begin.copy(), gaps.begin.copy()]
        at = np.searchsorted(self.loader.begin, gaps.begin)
        padded = np.append(self.loader.begin, np.iinfo(np.int64).max)
        until = np.minimum(host_end, padded[at])
        until = np.where(active(self.loader, gaps.begin), gaps.begin, until)
        for thread in self.threads:
            waits = self.waits[trace.thread[self.waits] == thread]
            if not len(waits):
                continue
            waits = waits[np.argsort(trace.end_ns[waits], kind="stable")]
            found = np.searchsorted(trace.end_ns[waits], gaps.begin - SKEW_NS)
            there = found < len(waits)
            wait = waits[np.minimum(found, len(waits) - 1)]
            there &= (trace.begin_ns[wait] < gaps.begin) & (trace.end_ns[wait] <= gaps.end)
            freeing = trace.kind[wait] == Kind.ALLOCATING
            for number, chosen in enumerate((there & ~freeing, there & freeing)):
                ends[number] = np.where(chosen, np.maximum(ends[number], until), ends[number])
        return ends[0], ends[1]


def _some(begin: Ints, end: Ints) -> Spans:
    lasting = end > begin
    return Spans(begin[lasting], end[lasting]) if lasting.any() else NOTHING
