"""What a verdict rests on: the largest gaps, the calls, functions and kernels that take the time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lab.language import _
from lab.trace.attribute import DeviceTime
from lab.trace.causes import idles_of
from lab.trace.events import CALLS, Flags, Ints, Kind, Trace
from lab.trace.intervals import Spans, union, within
from lab.trace.links import Work
from lab.trace.steps import Window
from lab.trace.verdict import Bottleneck, Cost, Evidence, Gap

WORK_OF: dict[Bottleneck, Kind] = {
    "compute": Kind.COMPUTE,
    "launch": Kind.COMPUTE,
    "communication": Kind.COMMUNICATION,
    "copies": Kind.COPY,
}
MOST_SEGMENTS = 5_000  # the largest ones say enough, and a long trace may have millions
SHORT_KERNEL_NS = 10_000
SHOWN = 5
SHOWN_GAPS = 3


def evidence(
    trace: Trace, work: Work, window: Window, threads: list[int], times: list[DeviceTime], cause: Bottleneck
) -> Evidence:
    """What shows that this is the cause."""
    if not times:
        return Evidence()
    spans = _largest(times, cause)
    matters = np.isin(trace.thread, threads)
    on_host = matters & trace.of(Kind.LOADER, Kind.OPERATOR, *CALLS)
    functions = matters & trace.of(Kind.PYTHON)
    calls = _waits(trace, work, times) if cause in ("sync", "allocator") else []
    return Evidence(
        gaps=tuple(_gaps(trace, work, window, times, cause, on_host)),
        calls=tuple(calls or _own_time(trace, on_host, spans)),
        functions=tuple(_own_time(trace, functions, spans)),
        work=tuple(_work(trace, work, window, WORK_OF[cause])) if cause in WORK_OF else (),
        facts=tuple(_facts(trace, work, window, cause)),
    )


def _largest(times: list[DeviceTime], cause: Bottleneck) -> Spans:
    """The idle time of this cause, in its largest segments."""
    begin = np.concatenate([time.idle_spans(*idles_of(cause)).begin for time in times])
    end = np.concatenate([time.idle_spans(*idles_of(cause)).end for time in times])
    if len(begin) > MOST_SEGMENTS:
        chosen = np.argsort(begin - end, kind="stable")[:MOST_SEGMENTS]
        begin, end = begin[chosen], end[chosen]
    return union(begin, end)


def _own_time(trace: Trace, chosen: Flags, spans: Spans) -> list[Cost]:
    """The names of events whose own time, without that of events inside them, falls into these spans."""
    index = np.flatnonzero(chosen)
    overlap = within(spans, trace.begin_ns[index], trace.end_ns[index])
    index, overlap = index[overlap > 0], overlap[overlap > 0]
    order = np.lexsort((-trace.end_ns[index], trace.begin_ns[index], trace.thread[index]))
    index, own = index[order], overlap[order].copy()
    overlaps, ends, threads = overlap[order].tolist(), trace.end_ns[index].tolist(), trace.thread[index].tolist()
    begins = trace.begin_ns[index].tolist()
    around: list[int] = []
    for at in range(len(index)):
        while around and (threads[around[-1]] != threads[at] or ends[around[-1]] <= begins[at]):
            around.pop()
        if around:
            own[around[-1]] -= overlaps[at]
        around.append(at)
    return _by_name(trace, index, np.maximum(own, 0))


def _by_name(trace: Trace, index: npt.NDArray[np.intp], ns: Ints) -> list[Cost]:
    """The names that take most, with their sums."""
    if not len(index):
        return []
    numbers, places, counts = np.unique(trace.name[index], return_inverse=True, return_counts=True)
    sums = np.bincount(places, weights=ns, minlength=len(numbers))
    costs = [
        Cost(trace.names[number], int(count), float(total) / 1000)
        for number, count, total in zip(numbers, counts, sums, strict=True)
        if total > 0
    ]
    return sorted(costs, key=lambda cost: (-cost.us, cost.name))[:SHOWN]


def _waits(trace: Trace, work: Work, times: list[DeviceTime]) -> list[Cost]:
    """The calls that had drained the device before it was idle, with the idle time that followed."""
    calls = np.concatenate([time.wait[time.wait >= 0] for time in times])
    lasts = np.concatenate([(time.gaps.end - time.gaps.begin)[time.wait >= 0] for time in times])
    return _by_name(trace, calls, lasts)


def _work(trace: Trace, work: Work, window: Window, kind: Kind) -> list[Cost]:
    """What ran longest on the devices."""
    chosen = (trace.kind[work.index] == kind) & (work.begin_ns < window.end_ns) & (work.end_ns > window.begin_ns)
    return _by_name(trace, work.index[chosen], (work.end_ns - work.begin_ns)[chosen])


def _gaps(
    trace: Trace, work: Work, window: Window, times: list[DeviceTime], cause: Bottleneck, on_host: Flags
) -> Iterator[Gap]:
    """The largest gaps of this cause."""
    found = []
    for time in times:
        spans = time.idle_spans(*idles_of(cause))
        for each in np.argsort(spans.begin - spans.end, kind="stable")[:SHOWN_GAPS]:
            found.append((int(spans.end[each] - spans.begin[each]), int(spans.begin[each]), time))
    for lasts, begin, time in sorted(found, key=lambda gap: (-gap[0], gap[1], gap[2].device))[:SHOWN_GAPS]:
        number = int(np.searchsorted(time.gaps.begin, begin, "right")) - 1
        following, wait = int(time.next_work[number]), int(time.wait[number])
        if cause in ("sync", "allocator") and wait >= 0:
            host = trace.names[trace.name[wait]]
        else:
            host = _innermost(trace, on_host, begin + lasts // 2)
        yield Gap(
            device=time.device,
            at_us=(begin - window.begin_ns) / 1000,
            lasts_us=lasts / 1000,
            waited_for=cause,
            host=host,
            next=trace.names[trace.name[work.index[following]]] if following >= 0 else "",
        )


def _innermost(trace: Trace, chosen: Flags, at: int) -> str:
    """What the host was in at this time."""
    around = np.flatnonzero(chosen & (trace.begin_ns <= at) & (trace.end_ns > at))
    return trace.names[trace.name[around[-1]]] if len(around) else ""


def _facts(trace: Trace, work: Work, window: Window, cause: Bottleneck) -> Iterator[str]:
    """What else the trace shows about this cause, each in a sentence."""
    steps = window.steps or 1
    per = _("per step") if window.steps else _("in all")
    inside = (work.begin_ns >= window.begin_ns) & (work.begin_ns < window.end_ns)
    names = [trace.names[number] for number in np.unique(trace.name[trace.of(Kind.LOADER)])]
    if cause == "input" and any("_SingleProcess" in name for name in names):
        yield _("The DataLoader has no workers (num_workers=0): the main process reads each batch itself.")
    if cause == "input" and any("_MultiProcessing" in name for name in names):
        yield _("The DataLoader has workers, and they don't keep up.")
    if cause in ("sync", "launch"):
        reads = sum(
            int((trace.of(Kind.OPERATOR) & (trace.name == number)).sum())
            for number, name in enumerate(trace.names)
            if name in ("aten::item", "aten::_local_scalar_dense")
        )
        if cause == "sync" and reads:
            yield _("{count:.3g} host reads (aten::item) {per}.", count=reads / 2 / steps, per=per)
    kernels = inside & (trace.kind[work.index] == Kind.COMPUTE)
    lasts = (work.end_ns - work.begin_ns)[kernels]
    if cause == "launch" and len(lasts):
        short = float((lasts < SHORT_KERNEL_NS).mean())
        yield (
            _(
                "{count:.0f} kernels {per}; half of them take at most {median_us:.3g} µs, "
                "and {short:.0%} take less than 10 µs.",
                count=len(lasts) / steps,
                per=per,
                median_us=float(np.median(lasts)) / 1000,
                short=short,
            )
        )
    if cause in ("copies", "sync"):
        pageable = [number for number, name in enumerate(trace.names) if "pageable" in name.lower()]
        copies = inside & np.isin(trace.name[work.index], pageable)
        if copies.any():
            yield _("{count:.3g} copies from or to pageable memory {per}.", count=int(copies.sum()) / steps, per=per)
    if cause == "copies":
        copies = inside & (trace.kind[work.index] == Kind.COPY)
        moved = int(trace.copied_bytes[work.index[copies]].sum())
        lasted_us = float((work.end_ns - work.begin_ns)[copies].sum()) / 1000
        if moved and lasted_us:
            yield f"{moved / steps / 2**20:.3g} MiB {per}, at {moved / lasted_us / 1000:.3g} GB/s."
    if cause == "allocator":
        calls = trace.of(Kind.ALLOCATING) & (trace.begin_ns >= window.begin_ns) & (trace.begin_ns < window.end_ns)
        yield f"{int(calls.sum()) / steps:.3g} calls that take or give back memory {per}."
