"""Says what a program waited for, from its trace: the verdict with its evidence, or why there can't be one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lab.language import _, ngettext
from lab.trace.attribute import DeviceTime, Idle
from lab.trace.causes import CAUSES, idles_of
from lab.trace.errors import TraceUnreadable
from lab.trace.events import Kind, Trace
from lab.trace.evidence import evidence
from lab.trace.examine import Examined, examine
from lab.trace.intervals import clipped
from lab.trace.judge import MENTIONED_SHARE, causes, largest
from lab.trace.links import Work
from lab.trace.read import read
from lab.trace.recording import again_with, reason_for_nothing
from lab.trace.source import Progress
from lab.trace.steps import Window
from lab.trace.verdict import Bottleneck, DeviceSplit, Diagnosis, Steps, Verdict
from lab.trace.words import summary

QUIET_SHARE = 0.01  # a device that is busy for so small a part of the busiest one's time has no say
SHORTEST_SPAN_NS = 1_000_000
COLD_CALLS = 2
ENOUGH_STEPS = 3


def diagnose(path_or_profiler: Any, progress: Progress | None = None) -> Diagnosis:
    """What the GPU waited for, by a trace file or a finished torch.profiler.profile.

    Raises TraceUnreadable where there is no trace to be read.
    """
    if isinstance(path_or_profiler, (str, Path)):
        return diagnose_trace(read(path_or_profiler, progress), str(path_or_profiler))
    export: Callable[[str], None] | None = getattr(path_or_profiler, "export_chrome_trace", None)
    if export is None:
        raise TypeError(
            _(
                "diagnose() takes the path of a trace or a finished torch.profiler.profile, not {path_or_profiler!r}.",
                path_or_profiler=path_or_profiler,
            )
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        try:
            export(str(file))
        except (RuntimeError, AssertionError) as error:
            raise TraceUnreadable(
                _(
                    "the profiler has no trace to give: {error}. Its trace can be taken only once, after "
                    "it has ended: if a handler wrote it to a file, give the path of that file.",
                    error=error,
                )
            ) from error
        return diagnose_trace(read(file, progress), "profiler")


def diagnose_trace(trace: Trace, name: str) -> Diagnosis:
    """What the GPU waited for, by the events of a trace."""
    examined = examine(trace)
    if examined is None:
        return _without_device(trace, name)
    work, steps, times = examined.work, examined.window, examined.times
    loud = _with_a_say(times)
    warnings = [*trace.warnings, *steps.notes, *_warnings(work, steps)]
    if len(loud) < len(times):
        quiet = ", ".join(str(time.device) for time in times if time not in loud)
        warnings.append(_("Hardly anything ran on device {quiet}: it has no say in the verdict.", quiet=quiet))
    found = Diagnosis(
        file=name,
        verdict=Verdict("none", 0.0, "", None),
        steps=Steps(steps.steps, _us(steps.median_step_ns)),
        window_us=steps.length_ns / 1000,
        step_us=_us(steps.step_ns),
        devices=tuple(_split(trace, steps, time, time in loud) for time in times),
        warnings=tuple(warnings),
        rank=trace.rank,
        world_size=trace.world_size,
    )
    parts = causes(found)
    bottleneck = largest(parts, found)
    reason = _why_not(examined, loud, bottleneck)
    if reason:
        bottleneck = "unknown"
    share = 0.0 if bottleneck == "none" else found.share_of(bottleneck)
    saves = None if bottleneck == "unknown" else _saves(found, examined, loud, bottleneck)
    shown = evidence(trace, work, steps, examined.host.threads, loud, bottleneck)
    verdict = Verdict(bottleneck, share, "", saves)
    return replace(
        found,
        verdict=replace(verdict, summary=summary(verdict, found, shown, reason)),
        parts=tuple(part for part in parts if part.share >= MENTIONED_SHARE),
        evidence=shown,
        record_better=tuple(again_with(trace, work, steps, bottleneck)),
        collective_us_per_step=_collective_us(trace, work, steps),
    )


def _without_device(trace: Trace, name: str) -> Diagnosis:
    steps = trace.of(Kind.STEP)
    lasts = (trace.end_ns - trace.begin_ns)[steps]
    verdict = Verdict("unknown", 0.0, reason_for_nothing(trace), None)
    return Diagnosis(
        file=name,
        verdict=verdict,
        steps=Steps(len(lasts), _us(float(np.median(lasts))) if len(lasts) else None),
        window_us=float(trace.end_ns[steps].max() - trace.begin_ns[steps].min()) / 1000 if len(lasts) else 0.0,
        step_us=None,
        devices=(),
        warnings=trace.warnings,
        record_better=tuple(again_with(trace, None, None, "unknown")),
        rank=trace.rank,
        world_size=trace.world_size,
    )


def _us(ns: float | None) -> float | None:
    return None if ns is None else ns / 1000


def _split(trace: Trace, examined: Window, time: DeviceTime, has_a_say: bool) -> DeviceSplit:
    idle = dict.fromkeys(CAUSES.values(), 0)
    for each, cause in CAUSES.items():
        idle[cause] += time.idle_spans(each).total
    busy = time.compute_ns, time.communication_ns, time.copies_ns
    return DeviceSplit(
        device=time.device,
        name=trace.device_names.get(time.device, ""),
        window_us=examined.length_ns / 1000,
        compute_us=time.compute_ns / 1000,
        communication_us=time.communication_ns / 1000,
        copies_us=time.copies_ns / 1000,
        idle_us=(examined.length_ns - sum(busy)) / 1000,
        idle={cause: ns / 1000 for cause, ns in idle.items() if ns},
        has_a_say=has_a_say,
    )


def _with_a_say(times: list[DeviceTime]) -> list[DeviceTime]:
    most = max((time.busy_ns for time in times), default=0)
    return [time for time in times if time.busy_ns >= QUIET_SHARE * most]


def _saves(found: Diagnosis, examined: Examined, times: list[DeviceTime], bottleneck: Bottleneck) -> float | None:
    """What a step would be shorter by, at most, if this cause were gone."""
    if found.step_us is None:
        return None
    share = found.share_of(bottleneck)
    if bottleneck == "sync":
        # Without waiting, host and device work side by side: the slower of the two is what is left.
        window = examined.window
        host_ns = window.length_ns - clipped(examined.host.blocking, window.begin_ns, window.end_ns).total
        busy_ns = max(time.busy_ns for time in times)
        share = min(share, 1 - max(host_ns, busy_ns) / window.length_ns)
    return share * found.step_us


def _why_not(examined: Examined, times: list[DeviceTime], bottleneck: Bottleneck) -> str | None:
    """Why the trace doesn't allow this verdict, if it doesn't."""
    work, steps = examined.work, examined.window.steps
    if not times or not examined.window.length_ns:
        return _("nothing ran on the GPU within the recorded steps")
    if bottleneck == "unknown":
        if not examined.host.recorded:
            return _(
                "the trace has what the GPU did, but not what the CPU did, so nothing tells what the GPU waited for"
            )
        unlinked = float((~work.linked).mean())
        return _(
            "for {unlinked:.0%} of the GPU's work the trace doesn't say when it was launched, so "
            "nothing tells what the GPU waited for",
            unlinked=unlinked,
        )
    if steps < ENOUGH_STEPS:
        span = int(work.end_ns.max() - work.begin_ns.min())
        if span < SHORTEST_SPAN_NS:
            return _(
                "the GPU's work in the trace spans only {span_us:.3g} µs, too little to speak of a bottleneck",
                span_us=span / 1000,
            )
        if steps < 2 and bottleneck in ("launch", "allocator"):
            cold = max(_in_few_calls(time, bottleneck) for time in times)
            if cold > 0.5:
                return _(
                    "the GPU was idle mostly during one or two calls of the runtime, as in a program that has just "
                    "started: nothing warm was recorded"
                )
    return None


def _in_few_calls(time: DeviceTime, bottleneck: Bottleneck) -> float:
    """How much of this cause's time lies in the few longest calls."""
    spans = time.idle_spans(Idle.CALL, Idle.ALLOCATING)
    longest = np.sort(spans.end - spans.begin)[-COLD_CALLS:].sum()
    return min(1.0, float(longest) / max(time.idle_spans(*idles_of(bottleneck)).total, 1))


def _warnings(work: Work, examined: Window) -> list[str]:
    warnings = []
    if examined.source == "device":
        warnings.append(_("The trace has no steps: the time from the first to the last work of the GPU is examined."))
    elif examined.source != "profiler":
        by = {"optimizer": _("calls of the optimizer"), "loader": _("calls of the DataLoader")}[examined.source]
        warnings.append(_("The trace has no steps of the profiler: they are told by the {by}.", by=by))
    if 0 < examined.steps < ENOUGH_STEPS:
        warnings.append(
            ngettext(
                "Only {n} step: whether others are like that, the trace can't tell.",
                "Only {n} steps: whether others are like that, the trace can't tell.",
                examined.steps,
            )
        )
    unlinked = float((~work.linked).mean())
    if unlinked > MENTIONED_SHARE:
        warnings.append(
            _("For {unlinked:.0%} of the GPU's work the trace doesn't say when it was launched.", unlinked=unlinked)
        )
    if work.clipped_ns > MENTIONED_SHARE * examined.length_ns:
        warnings.append(_("Some of the GPU's work seems to last beyond the next on its stream; it was cut there."))
    return warnings


def _collective_us(trace: Trace, work: Work, examined: Window) -> float | None:
    """How long the collective kernels last per step, which includes waiting for the other ranks."""
    chosen = (
        (trace.kind[work.index] == Kind.COMMUNICATION)
        & (work.begin_ns >= examined.begin_ns)
        & (work.begin_ns < examined.end_ns)
    )
    if not chosen.any():
        return None
    return float((work.end_ns - work.begin_ns)[chosen].sum()) / 1000 / max(examined.steps, 1)
