"""What each device did at each moment of the window, and what its idle time waited for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from lab.trace.events import CALLS, Flags, Ints, Kind, Trace
from lab.trace.intervals import Spans, active, clipped, layered, union
from lab.trace.links import Work
from lab.trace.steps import LONGEST_LATENCY_NS, Window

Indexes = npt.NDArray[np.intp]

SKEW_NS = 5_000  # the clocks of host and device agree to a few microseconds
BLOCKING_COPY_NS = 50_000
BLOCKING_COPY_TIMES = 5
# What a launch on an idle device needs from the end of its call to the begin of its kernel: less on CUDA, more on ROCm.
SHORTEST_LATENCY_NS, LATENCY_TIMES = 10_000, 1.5
# Between two calls the host interprets Python and prepares the next call. What takes longer is work of another kind.
LONGEST_PREPARATION_NS = 200_000
LONGEST_DISPATCH_NS = 1_000_000


class Idle(IntEnum):
    """What an idle moment of a device waited for, in the order in which the reasons are asked for."""

    UNKNOWN = 0  # nothing tells when the next work was launched, or what the host did
    DEVICE = 1  # the next work was launched: for another stream, another device, or nothing that is recorded
    DRAINED = 2  # for the host, which had waited until the device had done everything
    DRAINED_BY_FREE = 3  # the same, because it gave memory back
    LOADER = 4
    BLOCKING = 5
    ALLOCATING = 6
    COPYING = 7
    CALL = 8  # of the runtime: mostly launches
    HOST_OPERATOR = 9  # an operator that computes on the host
    OPERATOR = 10  # an operator on its way to a launch
    PREPARATION = 11  # a moment of Python between two of these
    PYTHON = 12


@dataclass(frozen=True, eq=False)
class DeviceTime:
    """One device's window: three kinds of work, and the idle segments, each with what it waited for."""

    device: int
    compute_ns: int
    communication_ns: int
    copies_ns: int
    busy_begin: Ints
    busy_end: Ints
    busy_kind: npt.NDArray[np.int8]  # 0, 1, 2: computation, communication, copies
    gaps: Spans
    next_work: Indexes  # of each gap: the place in Work of what ended it; -1 at the window's end
    wait: Indexes  # of each gap: the call that had drained the device; -1 if none had
    idle_begin: Ints
    idle_end: Ints
    idle: npt.NDArray[np.int8]

    @property
    def busy_ns(self) -> int:
        return self.compute_ns + self.communication_ns + self.copies_ns

    def idle_spans(self, *what: Idle) -> Spans:
        chosen = np.isin(self.idle, what)
        return Spans(self.idle_begin[chosen], self.idle_end[chosen])


def device_times(trace: Trace, work: Work, window: Window, host: Host) -> list[DeviceTime]:
    """Each device's time, for all devices that did something in the window."""
    devices = trace.device[work.index]
    inside = (work.begin_ns < window.end_ns) & (work.end_ns > window.begin_ns)
    return [_device_time(trace, work, window, int(device), host) for device in np.unique(devices[inside])]


def _device_time(trace: Trace, work: Work, window: Window, device: int, host: Host) -> DeviceTime:
    whole = Spans(np.array([window.begin_ns]), np.array([window.end_ns]))
    ours = np.flatnonzero((trace.device[work.index] == device) & (work.end_ns > work.begin_ns))
    kinds = trace.kind[work.index[ours]]
    layers = [
        clipped(
            union(work.begin_ns[ours[kinds == kind]], work.end_ns[ours[kinds == kind]]), window.begin_ns, window.end_ns
        )
        for kind in (Kind.COMPUTE, Kind.COMMUNICATION, Kind.COPY)
    ]
    begin, end, what = layered(whole, layers)
    compute, communication, copies = (int((end - begin)[what == each].sum()) for each in range(len(layers)))
    busy = what >= 0
    gaps = Spans(begin[what == -1], end[what == -1])
    following = _next_work(work, ours, gaps.end)
    wait, idle_begin, idle_end, idle = host.blamed(work, gaps, following)
    return DeviceTime(
        device=device,
        compute_ns=compute,
        communication_ns=communication,
        copies_ns=copies,
        busy_begin=begin[busy],
        busy_end=end[busy],
        busy_kind=what[busy],
        gaps=gaps,
        next_work=following,
        wait=wait,
        idle_begin=idle_begin,
        idle_end=idle_end,
        idle=idle,
    )


def _next_work(work: Work, ours: Indexes, at: Ints) -> Indexes:
    """Which of our work begins at each of these times; where several do, the one that was launched first."""
    ours = ours[np.lexsort((work.launch_end_ns[ours], work.launch_begin_ns[ours], work.begin_ns[ours]))]
    if not len(ours):
        return np.full(len(at), -1, np.intp)
    found = np.minimum(np.searchsorted(work.begin_ns[ours], at), len(ours) - 1)
    return np.where(work.begin_ns[ours[found]] == at, ours[found], -1)


class Host:
    """What the threads that matter did: the main one, and those that launch work."""

    def __init__(self, trace: Trace, work: Work, window: Window) -> None:
        self.trace = trace
        launching = set(np.unique(trace.thread[work.launch[work.launch >= 0]]).tolist())
        main = launching if window.main_thread is None else {window.main_thread}
        self.threads = sorted(launching | main)
        self.recorded = bool(trace.of(Kind.LOADER, Kind.STEP, Kind.OPERATOR, Kind.ANNOTATION, Kind.PYTHON).any())
        matters = np.isin(trace.thread, self.threads)
        blocking = matters & (self._blocking_copies(work) | trace.of(Kind.BLOCKING))
        # Giving memory back to the device waits for all its work, where it takes long.
        lasting = trace.end_ns - trace.begin_ns > BLOCKING_COPY_NS
        self.waits = np.flatnonzero(blocking | (matters & trace.of(Kind.ALLOCATING) & lasting & self._named("free")))
        self.blocking = self._spans(blocking)
        self.loader = self._spans(trace.of(Kind.LOADER) & np.isin(trace.thread, sorted(main)))
        self.layers = {
            Idle.LOADER: self.loader,
            Idle.BLOCKING: self.blocking,
            Idle.ALLOCATING: self._spans(matters & trace.of(Kind.ALLOCATING)),
            Idle.COPYING: self._spans(matters & trace.of(Kind.COPYING)),
            Idle.CALL: self._spans(matters & trace.of(Kind.RUNTIME)),
            Idle.HOST_OPERATOR: self._host_operators(matters),
            Idle.OPERATOR: self._spans(matters & trace.of(Kind.OPERATOR)),
        }

    def _spans(self, chosen: Flags) -> Spans:
        return union(self.trace.begin_ns[chosen], self.trace.end_ns[chosen])

    def _named(self, part: str) -> Flags:
        return np.array([part in name.lower() for name in self.trace.names] or [False])[self.trace.name]

    def _blocking_copies(self, work: Work) -> Flags:
        """Calls that copy and last far longer than their copy: they waited for what was queued before."""
        trace = self.trace
        lasts = trace.end_ns - trace.begin_ns
        copy_ns = np.zeros(len(trace), np.int64)
        recorded = work.launch >= 0
        np.maximum.at(copy_ns, work.launch[recorded], (work.end_ns - work.begin_ns)[recorded])
        long: Flags = (lasts > BLOCKING_COPY_NS) & (lasts > BLOCKING_COPY_TIMES * copy_ns)
        return long & trace.of(Kind.COPYING)

    def _host_operators(self, matters: Flags) -> Spans:
        """Operators that take long without another one, or a call, inside them: they compute on the host."""
        trace = self.trace
        index = np.flatnonzero(matters & trace.of(Kind.OPERATOR, *CALLS))
        if not len(index):
            return self._spans(np.zeros(len(trace), bool))
        index = index[np.lexsort((-trace.end_ns[index], trace.begin_ns[index], trace.thread[index]))]
        following = np.append(index[1:], index[-1])
        alone = (trace.thread[following] != trace.thread[index]) | (trace.begin_ns[following] >= trace.end_ns[index])
        alone[-1] = True
        lasting = trace.end_ns[index] - trace.begin_ns[index] > LONGEST_DISPATCH_NS
        found = index[alone & lasting & (trace.kind[index] == Kind.OPERATOR)]
        return union(trace.begin_ns[found], trace.end_ns[found])

    def blamed(self, work: Work, gaps: Spans, following: Indexes) -> tuple[Indexes, Ints, Ints, npt.NDArray[np.int8]]:
        """The call that drained the device before each gap; and the gaps in segments, with what each waited for."""
        ended = following >= 0
        linked = ended & work.linked[following]
        # Up to its launch a kernel waits for the host, after that for the device or for something on it.
        launched = work.launch_end_ns[following]
        late = linked & (work.launch_begin_ns[following] > gaps.begin)
        ready = np.where(linked, launched + _latency_ns((work.begin_ns[following] - launched)[late]), gaps.end)
        host_end = np.clip(ready, gaps.begin, gaps.end)
        unknown = ended & ~linked if self.recorded else np.ones(len(ended), bool)
        wait = self._drained_by(gaps)
        until = self._before_the_loader(gaps, host_end)
        freeing = self.trace.kind[wait] == Kind.ALLOCATING
        layers = {
            Idle.DEVICE: _some(host_end, gaps.end),
            Idle.UNKNOWN: _some(gaps.begin, np.where(unknown, gaps.end, gaps.begin)),
            Idle.DRAINED: _some(gaps.begin, np.where((wait >= 0) & ~freeing, until, gaps.begin)),
            Idle.DRAINED_BY_FREE: _some(gaps.begin, np.where((wait >= 0) & freeing, until, gaps.begin)),
            **self.layers,
        }
        begin, end, number = layered(gaps, list(layers.values()))
        what = np.array([*layers, Idle.PYTHON], np.int8)[number]  # the last one where no layer is
        what[(what == Idle.PYTHON) & (end - begin < LONGEST_PREPARATION_NS)] = Idle.PREPARATION
        return wait, begin, end, what

    def _before_the_loader(self, gaps: Spans, host_end: Ints) -> Ints:
        """Up to where a wait may be to blame for each gap: from where the host waits for data, the data is."""
        at = np.searchsorted(self.loader.begin, gaps.begin)
        until = np.minimum(host_end, np.append(self.loader.begin, np.iinfo(np.int64).max)[at])
        return np.where(active(self.loader, gaps.begin), gaps.begin, until)

    def _drained_by(self, gaps: Spans) -> Indexes:
        """The call that waited until the device had done all its work and ended in the gap; -1 where there is none.

        It is to blame for what follows: without it, the next work would have been queued already.
        """
        trace = self.trace
        drained_by = np.full(len(gaps.begin), -1, np.intp)
        for thread in self.threads:
            waits = self.waits[trace.thread[self.waits] == thread]
            if not len(waits):
                continue
            waits = waits[np.argsort(trace.end_ns[waits], kind="stable")]
            found = np.searchsorted(trace.end_ns[waits], gaps.begin - SKEW_NS)
            wait = waits[np.minimum(found, len(waits) - 1)]
            there = (found < len(waits)) & (trace.begin_ns[wait] < gaps.begin) & (trace.end_ns[wait] <= gaps.end)
            # Where two threads waited, the one whose wait ended last went on with the work.
            later = (drained_by < 0) | (trace.end_ns[wait] > trace.end_ns[drained_by])
            drained_by = np.where(there & later, wait, drained_by)
        return drained_by


def _latency_ns(delays_ns: Ints) -> int:
    """How long a launch on an idle device may take, by how long such launches take in this trace."""
    usual = LATENCY_TIMES * float(np.median(delays_ns)) if len(delays_ns) else 0.0
    return int(np.clip(usual, SHORTEST_LATENCY_NS, LONGEST_LATENCY_NS))


def _some(begin: Ints, end: Ints) -> Spans:
    lasting = end > begin
    return Spans(begin[lasting], end[lasting])
