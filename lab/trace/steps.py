"""Which part of a trace counts: its whole, warm steps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from lab.language import _
from lab.trace.events import Flags, Ints, Kind, Trace
from lab.trace.intervals import union
from lab.trace.links import Work

OPTIMIZER = re.compile(r"^Optimizer\.step#")
COLD_TIMES = 3.0  # a first step that lasts so many times the median is warm-up,
COLD_SHARE = 0.05  # if it is so much of the whole
BUSY_SHARE = 0.05  # of a step: so long the first work waits only for other work
LONGEST_LATENCY_NS = 50_000  # that a launch on an idle device needs
FULL_SHARE = 0.8  # a last step with less than this share of the one before's device work isn't whole

Source = Literal["profiler", "optimizer", "loader", "device"]


@dataclass(frozen=True, eq=False)
class Window:
    """The time that is examined."""

    begin_ns: int
    end_ns: int
    step_begin_ns: Ints
    step_end_ns: Ints
    source: Source
    main_thread: int | None
    earlier_ns: int = 0  # in which the device still worked on what was launched before the first step
    notes: tuple[str, ...] = ()

    @property
    def steps(self) -> int:
        return len(self.step_begin_ns)

    @property
    def length_ns(self) -> int:
        return self.end_ns - self.begin_ns

    @property
    def step_ns(self) -> float | None:
        """How long a step takes, told by its work on the device, which may be far behind the host."""
        own_ns = self.length_ns - self.earlier_ns
        return (own_ns or self.length_ns) / self.steps if self.steps else None

    @property
    def median_step_ns(self) -> float | None:
        return float(np.median(self.step_end_ns - self.step_begin_ns)) if self.steps else None


def window(trace: Trace, work: Work) -> Window:
    """The steps of the trace, up to the end of the device work that they launched; without steps, all device work."""
    begin, end, source, main = _steps(trace, work)
    if not len(begin):
        return Window(int(work.begin_ns.min()), int(work.end_ns.max()), begin, end, "device", main)
    notes = []
    median = float(np.median(end - begin))
    # Where the device is far behind, the host's steps are short, and one that is longer says nothing.
    whole = max(int(end.max()), int(work.end_ns.max())) - int(begin[0])
    if len(begin) >= 3 and end[0] - begin[0] > max(COLD_TIMES * median, COLD_SHARE * whole) and median > 0:
        notes.append(
            _(
                "The first recorded step took {times:.0f} times the median: it is left out as warm-up.",
                times=(end[0] - begin[0]) / median,
            )
        )
        begin, end = begin[1:], end[1:]
    if len(begin) >= 3 and _device_was_busy(trace, work, int(begin[0]), BUSY_SHARE * median):
        notes.append(
            _("In the first recorded step the GPU was still busy with work that isn't recorded: it is left out.")
        )
        begin, end = begin[1:], end[1:]
    if len(begin) >= 2:
        launched = np.sort(work.launch_begin_ns[work.linked])
        per_step = np.searchsorted(launched, end) - np.searchsorted(launched, begin)
        if per_step[-1] < FULL_SHARE * per_step[-2]:
            notes.append(
                _(
                    "The last recorded step has {last} pieces of device work, the one before "
                    "{before}: it isn't whole and is left out.",
                    last=per_step[-1],
                    before=per_step[-2],
                )
            )
            begin, end = begin[:-1], end[:-1]
    first, last = int(begin.min()), int(end.max())
    ours = work.linked & (work.launch_begin_ns >= first) & (work.launch_begin_ns < last)
    drained = int(work.end_ns[ours].max()) if ours.any() else last
    until = max(last, drained)
    earlier = work.end_ns[work.linked & (work.launch_begin_ns < first)]
    earlier_ns = int(np.clip(earlier.max() - first, 0, until - first)) if len(earlier) else 0
    return Window(first, until, begin, end, source, main, earlier_ns, tuple(notes))


def _device_was_busy(trace: Trace, work: Work, begin_ns: int, at_least_ns: float) -> bool:
    """Whether the first work that was launched after a time had to wait, though nothing else is recorded before it."""
    devices = trace.device[work.index]
    for device in np.unique(devices):
        first = np.flatnonzero(devices == device)[0]
        if work.launch[first] >= 0 and work.launch_begin_ns[first] >= begin_ns:
            waited_ns = work.begin_ns[first] - max(work.launch_end_ns[first], begin_ns)
            if waited_ns > max(at_least_ns, LONGEST_LATENCY_NS):
                return True
    return False


def _steps(trace: Trace, work: Work) -> tuple[Ints, Ints, Source, int | None]:
    nothing = np.empty(0, np.int64)
    marks = trace.of(Kind.STEP)
    if marks.any():
        main = _busiest(trace, marks)
        marks &= trace.thread == main
        return trace.begin_ns[marks], trace.end_ns[marks], "profiler", main
    launching = work.launch[work.launch >= 0]
    optimizers = _named(trace, OPTIMIZER) & trace.of(Kind.ANNOTATION, Kind.OPERATOR)
    if optimizers.any():
        main = _busiest(trace, optimizers)
        optimizers &= trace.thread == main
        numbers, counts = np.unique(trace.name[optimizers], return_counts=True)
        often = max(zip(counts, (trace.names[each] for each in numbers), numbers, strict=True))[2]
        optimizers &= trace.name == often
        ends = union(trace.begin_ns[optimizers], trace.end_ns[optimizers]).end
        if len(ends) >= 3:
            return ends[:-1], ends[1:], "optimizer", main
        return nothing, nothing, "device", main
    loaders = trace.of(Kind.LOADER)
    if loaders.any():
        main = _busiest(trace, loaders)
        loaders &= trace.thread == main
        begins = union(trace.begin_ns[loaders], trace.end_ns[loaders]).begin
        if len(begins) >= 3:
            return begins[:-1], begins[1:], "loader", main
        return nothing, nothing, "device", main
    if not len(launching):
        return nothing, nothing, "device", None
    launched = np.zeros(len(trace), bool)
    launched[launching] = True
    return nothing, nothing, "device", _busiest(trace, launched)


def _named(trace: Trace, pattern: re.Pattern[str]) -> Flags:
    return np.array([bool(pattern.search(name)) for name in trace.names] or [False])[trace.name]


def _busiest(trace: Trace, marked: Flags) -> int:
    """The thread with most of these events."""
    threads: npt.NDArray[np.int32] = trace.thread[marked]
    numbers, counts = np.unique(threads, return_counts=True)
    lasting = [int((trace.end_ns - trace.begin_ns)[marked & (trace.thread == each)].sum()) for each in numbers]
    names = [str(trace.threads[each]) for each in numbers]
    return int(max(zip(counts, lasting, names, numbers, strict=True))[3])
