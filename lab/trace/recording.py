"""How to record a trace that tells more."""

from __future__ import annotations

from collections.abc import Iterator

from lab.language import N_, _
from lab.trace.events import Kind, Trace
from lab.trace.links import Work
from lab.trace.steps import Window
from lab.trace.verdict import Bottleneck

FEW_STEPS = 3
SEVERAL_STEPS = N_(
    "Record several warm steps: schedule=torch.profiler.schedule(wait=1, warmup=2, active=5, repeat=1), and "
    "prof.step() at the end of each step. Without repeat=1, what is recorded when the program ends may be written over "
    "them."
)


def reason_for_nothing(trace: Trace) -> str:
    """Why there is no verdict where the trace has nothing of a GPU."""
    if not len(trace):
        return _("I can't tell: the trace has no events with a time.")
    if trace.cut_short:
        return _("I can't tell: the file is cut short, and what is left of the trace has nothing of a GPU.")
    return _("I can't tell: the trace has nothing of a GPU, so nothing in it says what a GPU waited for.")


def again_with(trace: Trace, work: Work | None, examined: Window | None, bottleneck: Bottleneck) -> Iterator[str]:
    """How to record a trace that tells more."""
    if trace.cut_short:
        yield _(
            "Record or copy the trace again, and let it be written to its end: the program has to leave the profiler's "
            "with block, and the disk needs room."
        )
    stacks = bool(trace.of(Kind.PYTHON).any())
    if work is None or examined is None:
        if 0 < int(trace.of(Kind.STEP).sum()) < FEW_STEPS:
            yield _(SEVERAL_STEPS)
        if trace.cut_short:
            return
        yield (
            _(
                "Record the GPU as well: profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]), "
                "or without activities, which records whatever there is. Of Apple's GPUs the profiler records nothing."
            )
        )
        return
    host = bool(trace.of(Kind.OPERATOR, Kind.ANNOTATION, Kind.PYTHON, Kind.LOADER, Kind.STEP).any())
    if not host:
        yield _("Record the CPU as well: profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]).")
    if examined.source != "profiler" or examined.steps < FEW_STEPS:
        yield _(SEVERAL_STEPS)
    if bottleneck == "python" and not stacks:
        yield _("with_stack=True names the Python functions in which the time is spent.")
    if bottleneck == "input" and not stacks:
        yield (
            _(
                "num_workers=0 and with_stack=True, for one recording, name the function that makes a batch expensive: "
                "what workers do isn't in a trace."
            )
        )
    if bottleneck in ("python", "launch") and stacks:
        yield _("with_stack=True makes the CPU slower: record once without it to see how large the share really is.")
