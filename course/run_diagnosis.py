"""What the GPU waited for in a run, by the lab's events: the same verdict, in the same words, as a trace gets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from course.lanes import Gap as IdleGap
from course.lanes import RunView, Span, disjoint, union
from lab.language import N_, _, ngettext
from lab.trace.judge import MENTIONED_SHARE, causes, largest
from lab.trace.verdict import Bottleneck, Cost, DeviceSplit, Diagnosis, Evidence, Gap, Steps, Verdict
from lab.trace.words import summary

CAUSE_OF: dict[str, Bottleneck] = {
    "data": "input",
    "copy": "copies",
    "alloc": "allocator",
    "wait": "sync",
    "read": "sync",
    "launch": "launch",
    "forward": "launch",
    "backward": "launch",
    "optimizer": "launch",
    "code": "python",
}
"""Which bottleneck it is that the GPU waits while the host does this."""
PREPARES_S = 200e-6
"""Between two launches the host interprets Python; what takes longer is work of another kind."""
SHORTEST_S = 1e-3
FEW_STEPS = 3
SHOWN_GAPS, SHOWN_COSTS = 3, 5
REAL = N_("the kernels of a real GPU are seen by torch.profiler only")
AGAIN_ON_REAL = N_(
    "Profile a few steps with torch.profiler, write the trace with export_chrome_trace() and open it here: "
    "Ctrl+P, Open a trace."
)
AGAIN = N_(
    "A trace of torch.profiler tells more: the operators and, with_stack=True, the Python functions. "
    "Ctrl+P, Open a trace, shows it here."
)


class Piece:
    """An idle stretch with one cause."""

    __slots__ = ("begin_s", "cause", "end_s", "gap")

    def __init__(self, begin_s: float, end_s: float, cause: Bottleneck, gap: IdleGap) -> None:
        self.begin_s, self.end_s, self.cause, self.gap = begin_s, end_s, cause, gap

    @property
    def lasts_s(self) -> float:
        return self.end_s - self.begin_s


def diagnose_run(run: RunView, name: str, gpu: str = "", real: bool = False) -> Diagnosis:
    """The verdict on a run, or why there is none."""
    if not run.streams:
        reason = _(REAL) if real else _("the run gave the GPU nothing to do")
        return _nothing(name, reason, _(AGAIN_ON_REAL) if real else "")
    begin_s, end_s, earlier_s, steps = window(run)
    computing = _clipped(
        union(span for span in run.launches if span.kind not in ("memcpy", "collective")), begin_s, end_s
    )
    copying = _clipped(union(span for span in run.launches if span.kind == "memcpy"), begin_s, end_s)
    compute_s = _sum(computing)
    busy_s = _sum(_union([*computing, *copying]))
    pieces = list(_pieces(run, begin_s, end_s))
    idle: dict[str, float] = {}
    for piece in pieces:
        idle[piece.cause] = idle.get(piece.cause, 0.0) + piece.lasts_s * 1e6
    length_s = end_s - begin_s
    split = DeviceSplit(
        device=0,
        name=gpu,
        window_us=length_s * 1e6,
        compute_us=compute_s * 1e6,
        communication_us=0.0,
        copies_us=max(busy_s - compute_s, 0.0) * 1e6,
        idle_us=math.fsum(idle.values()),
        idle=idle,
    )
    found = Diagnosis(
        file=name,
        verdict=Verdict("none", 0.0, "", None),
        steps=Steps(len(steps), median(until - since for since, until in steps) * 1e6 if steps else None),
        window_us=length_s * 1e6,
        step_us=(length_s - earlier_s) * 1e6 / len(steps) if steps else None,
        devices=(split,),
        warnings=tuple(_warnings(run, len(steps))),
    )
    parts = causes(found)
    bottleneck = largest(parts, found)
    why_not = _why_not(run, length_s)
    if why_not:
        bottleneck = "unknown"
    share = 0.0 if bottleneck in ("none", "unknown") else found.share_of(bottleneck)
    evidence = _evidence(run, pieces, bottleneck, begin_s, end_s, max(len(steps), 1), bool(steps))
    verdict = Verdict(bottleneck, share, "", _saves(run, found, bottleneck, share, (begin_s, end_s), busy_s))
    return replace(
        found,
        verdict=replace(verdict, summary=summary(verdict, found, evidence, why_not)),
        parts=tuple(part for part in parts if part.share >= MENTIONED_SHARE),
        evidence=evidence,
        record_better=(_(AGAIN),) if bottleneck == "python" else (),
    )


def _nothing(name: str, reason: str, again: str) -> Diagnosis:
    verdict = Verdict("unknown", 0.0, _("I can't tell: {reason}.", reason=reason), None)
    return Diagnosis(name, verdict, Steps(0, None), 0.0, None, (), record_better=(again,) if again else ())


def window(run: RunView) -> tuple[float, float, float, Sequence[tuple[float, float]]]:
    """The part that is examined: begin, end, how long the GPU still worked on what came before, and its steps.

    With steps it is theirs, up to the end of what they launched; without, from the first kernel to the last.
    """
    works = list(run.launches)
    steps = run.steps
    if not steps:
        return min(work.begin_s for work in works), max(work.end_s for work in works), 0.0, ()
    first_s, last_s = steps[0][0], steps[-1][1]
    ours = [work.end_s for work in works if first_s <= work.launched_s < last_s]
    until_s = max(last_s, max(ours, default=last_s))
    before = [work.end_s for work in works if work.launched_s < first_s]
    earlier_s = min(max(max(before, default=first_s) - first_s, 0.0), until_s - first_s)
    return first_s, until_s, earlier_s if earlier_s < until_s - first_s else 0.0, steps


def _pieces(run: RunView, begin_s: float, end_s: float) -> Iterator[Piece]:
    """The idle time within a window, cut where what the host does changes."""
    host = run.host
    at = 0
    calls = run.calls
    call = 0
    for gap in run.gaps:
        since_s, until_s = max(gap.begin_s, begin_s), min(gap.end_s, end_s)
        if until_s <= since_s:
            continue
        if gap.waited_for == "stream":
            yield Piece(since_s, until_s, "device_wait", gap)
            continue
        while at < len(host) and host[at].end_s <= since_s:
            at += 1
        did = []
        number = at
        while number < len(host) and host[number].begin_s < until_s:
            did.append(_cut(host[number], since_s, until_s))
            number += 1
        if gap.after:
            # Without that wait the next kernel would have been queued: up to where the host turns to its data.
            data_s = next((span.begin_s for span in did if span.kind == "data"), until_s)
            if data_s > since_s:
                yield Piece(since_s, data_s, "sync", gap)
            did = [_cut(span, max(data_s, since_s), until_s) for span in did if span.end_s > data_s]
        while call < len(calls) and calls[call].end_s <= since_s:
            call += 1
        for span in did:
            yield from _of_span(span, gap, calls, call)
        told_s = max((span.end_s for span in did), default=since_s) if not gap.after else until_s
        if until_s > told_s:
            yield Piece(told_s, until_s, "unknown", gap)  # the program had ended


def _of_span(span: Span, gap: IdleGap, calls: Sequence[Span], number: int) -> Iterator[Piece]:
    """The cause of what the host did; in a phase that launches, Python may take longer than launching."""
    cause = CAUSE_OF.get(span.kind, "unknown")
    if cause != "launch" and span.kind != "code":
        yield Piece(span.begin_s, span.end_s, cause, gap)
        return
    told_s = span.begin_s
    while number < len(calls) and calls[number].begin_s < span.end_s:
        call = calls[number]
        number += 1
        since_s, until_s = max(call.begin_s, told_s), min(call.end_s, span.end_s)
        if until_s <= since_s:
            continue
        if since_s > told_s:
            yield Piece(told_s, since_s, cause, gap)
        long_code = call.kind == "code" and call.duration_s >= PREPARES_S
        yield Piece(since_s, until_s, "python" if long_code else "launch", gap)
        told_s = until_s
    if span.end_s > told_s:
        yield Piece(told_s, span.end_s, cause, gap)


def _cut(span: Span, begin_s: float, end_s: float) -> Span:
    return span._replace(begin_s=max(span.begin_s, begin_s), end_s=min(span.end_s, end_s))


def _union(stretches: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    return union(Span(begin_s, end_s, "", "") for begin_s, end_s in stretches)


def _clipped(stretches: Iterable[tuple[float, float]], begin_s: float, end_s: float) -> list[tuple[float, float]]:
    cut = ((max(since_s, begin_s), min(until_s, end_s)) for since_s, until_s in stretches)
    return [(since_s, until_s) for since_s, until_s in cut if until_s > since_s]


def _sum(stretches: Iterable[tuple[float, float]]) -> float:
    return math.fsum(until_s - since_s for since_s, until_s in stretches)


def _why_not(run: RunView, length_s: float) -> str | None:
    if length_s < SHORTEST_S and not run.steps:
        return _(
            "the GPU's work spans only {span_us:.3g} µs, too little to speak of a bottleneck",
            span_us=length_s * 1e6,
        )
    return None


def _warnings(run: RunView, steps: int) -> Iterator[str]:
    if run.cut_off:
        yield _("The run did more than was written down: only its begin is examined.")
    if not steps:
        yield _("No steps are known: the time from the first to the last work of the GPU is examined.")
    elif steps < FEW_STEPS:
        yield ngettext(
            "Only {n} step: whether others are like that, the run can't tell.",
            "Only {n} steps: whether others are like that, the run can't tell.",
            steps,
        )


def _saves(
    run: RunView, found: Diagnosis, bottleneck: Bottleneck, share: float, window: tuple[float, float], busy_s: float
) -> float | None:
    """What a step would be shorter by at most."""
    if found.step_us is None or bottleneck == "unknown":
        return None
    length_s = window[1] - window[0]
    if bottleneck == "sync" and length_s:
        # Without waiting, host and GPU work side by side: the slower of the two is what is left.
        waits = [(span.begin_s, span.end_s) for span in run.host if span.kind in ("wait", "read")]
        host_s = length_s - _sum(_clipped(waits, *window))
        share = max(min(share, 1 - max(host_s, busy_s) / length_s), 0.0)
    return share * found.step_us


def _evidence(
    run: RunView,
    pieces: list[Piece],
    bottleneck: Bottleneck,
    begin_s: float,
    end_s: float,
    steps: int,
    has_steps: bool,
) -> Evidence:
    per = _("per step") if has_steps else _("in all")
    ours = [piece for piece in pieces if piece.cause == bottleneck]
    after = {span.begin_s: span for span in disjoint(run.launches)}
    gaps = tuple(
        Gap(
            device=0,
            at_us=(piece.begin_s - begin_s) * 1e6,
            lasts_us=piece.lasts_s * 1e6,
            waited_for=bottleneck,
            host=_host_in(run, piece),
            next=after[piece.gap.end_s].name if piece.gap.end_s in after else "",
        )
        for piece in sorted(ours, key=lambda piece: (-piece.lasts_s, piece.begin_s))[:SHOWN_GAPS]
    )
    calls: dict[str, list[float]] = {}
    for piece in ours:
        if bottleneck == "sync":
            calls.setdefault(piece.gap.after or _host_in(run, piece), []).append(piece.lasts_s * 1e6)
    inside = [span for span in run.launches if begin_s <= span.begin_s < end_s]
    facts = []
    kernels = sorted(span.duration_s * 1e6 for span in inside if span.kind != "memcpy")
    if bottleneck == "launch" and kernels:
        facts.append(
            _(
                "{count:.0f} kernels {per}; half of them take at most {median_us:.3g} µs.",
                count=len(kernels) / steps,
                per=per,
                median_us=kernels[len(kernels) // 2],
            )
        )
    reads = sum(1 for span in run.host if span.kind == "read" and begin_s <= span.end_s <= end_s)
    if bottleneck == "sync" and reads:
        facts.append(_("{count:.3g} host reads {per}.", count=reads / steps, per=per))
    works: dict[str, list[float]] = {}
    if bottleneck in ("compute", "launch", "copies"):
        for span in inside:
            if (span.kind == "memcpy") == (bottleneck == "copies"):
                works.setdefault(span.name, []).append(span.duration_s * 1e6)
    return Evidence(gaps=gaps, calls=_costs(calls), work=_costs(works), facts=tuple(facts))


def _host_in(run: RunView, piece: Piece) -> str:
    """What the host did in the middle of a piece."""
    if piece.cause == "sync" and piece.gap.after:
        return piece.gap.after
    span = run.host_lane.at((piece.begin_s + piece.end_s) / 2)
    return span.name if span else ""


def _costs(found: dict[str, list[float]]) -> tuple[Cost, ...]:
    costs = [Cost(name, len(each), math.fsum(each)) for name, each in found.items() if name]
    return tuple(sorted(costs, key=lambda cost: (-cost.us, cost.name))[:SHOWN_COSTS])
