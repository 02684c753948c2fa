"""How to record a trace that tells more."""

from __future__ import annotations

from collections.abc import Iterator

from lab.language import _
from lab.trace.events import Kind, Trace
from lab.trace.links import Work
from lab.trace.steps import Window
from lab.trace.verdict import Bottleneck


def reason_for_nothing(trace: Trace) -> str:
    """Why there is no verdict where the trace has nothing of a GPU."""
    if not len(trace):
        return _("I can't tell: the trace has no events with a time.")
    return _("I can't tell: the trace has nothing of a GPU, so nothing in it says what a GPU waited for.")


def again_with(trace: Trace, work: Work | None, examined: Window | None, bottleneck: Bottleneck) -> Iterator[str]:
    """How to record a trace that tells more."""
    stacks = bool(trace.of(Kind.PYTHON).any())
    if work is None or examined is None:
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
    if examined.source != "profiler" or examined.steps < 3:
        yield (
            _(
                "Record several warm steps: schedule=torch.profiler.schedule(wait=1, warmup=2, active=5), "
                "and prof.step() at the end of each step."
            )
        )
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
