"""trace_three_steps: the whole loop runs, three of its steps are recorded after a warm-up, and one trace is written."""

from __future__ import annotations

from bisect import bisect

import pytest

from grader.api import Seen, approx, mistake, workload
from lab.language import _

FOLDER = "traces"
LOOP = workload("traced_loop", folder=FOLDER)
ASKED = [4, 5, 6]
# What PyTorch says of an export before the plan has begun to record, while it records, and of a second one.
KNOWN_ERRORS = {
    "Profiler must be initialized before exporting": "exported_too_early",
    "has no attribute 'save'": "exported_too_early",
    "Trace is already saved": "exported_twice",
}


@pytest.fixture(scope="module")
def expected(submission) -> dict[str, float]:
    """How many steps the loop has, and how they change the weights."""
    return submission.expected(LOOP)


@pytest.fixture(scope="module")
def seen(submission, expected) -> Seen:
    return submission.call("trace_three_steps", LOOP, FOLDER, then=LOOP, known_errors=KNOWN_ERRORS)


def numbers(seen: Seen, what: str) -> list[int]:
    """Where among all that was seen the events of this kind stand."""
    return [event["n"] for event in seen.events(what)]


def recordings(seen: Seen) -> list[list[int]]:
    """For each time that the profiler recorded, the steps of the loop that began meanwhile, counted from 1."""
    stops = [*numbers(seen, "profiler_stop"), len(seen.observed)]
    begins = numbers(seen, "workload")
    return [
        [step + 1 for step in range(bisect(begins, start), bisect(begins, stops[bisect(stops, start)]))]
        for start in numbers(seen, "profiler_start")
    ]


def warm_up_steps(seen: Seen) -> int:
    """How many steps of the loop the profiler was on for before it began to record."""
    start = numbers(seen, "profiler_start")[0]
    prepared = max((n for n in numbers(seen, "profiler_prepare") if n < start), default=start)
    return sum(prepared < begin < start for begin in numbers(seen, "workload"))


def check_is_told(seen: Seen) -> None:
    """Whether the profiler could follow the loop at all; what was recorded says it."""
    starts, told = seen.events("profiler_start"), numbers(seen, "profiler_step")
    begins = numbers(seen, "workload")
    scheduled = bool(seen.events("profiler_made", scheduled=True))
    assert starts or told or not scheduled, mistake("schedule_without_step", steps=0)
    assert starts or told, _("No profiler was started. Use it as a context: with profile(...) as prof.")
    recorded = [step for steps in recordings(seen) for step in steps]
    if recorded == ASKED:
        return
    assert not starts or starts[0]["scheduled"], mistake("whole_loop_recorded", steps=len(recorded))
    assert told, mistake("schedule_without_step", steps=0)
    twice = len(told) > 1.5 * len(begins)
    assert not twice, mistake("step_told_twice", told=len(told), trained=len(begins), recorded=len(recorded))
    before = sum(n < begin for n, begin in zip(told, begins, strict=False)) > len(begins) / 2
    assert not before or [step + 1 for step in recorded[:3]] != ASKED, mistake(
        "step_told_before_it", recorded=spoken(recorded[:3])
    )


def check_is_recorded_once(seen: Seen) -> None:
    times = recordings(seen)
    assert times, _(
        "Your profiler never began to record. Its plan: wait=2, warmup=1, active=3, and prof.step() after each step."
    )
    assert len(times) == 1, mistake("cycles_repeated", cycles=len(times))


def spoken(steps: list[int]) -> str:
    if not steps:
        return _("no step")
    return (
        _("step {steps}", steps=steps[0])
        if len(steps) == 1
        else _("steps {steps} to {steps2}", steps=steps[0], steps2=steps[-1])
    )


@pytest.mark.points(1)
def test_trains_on_every_batch(seen, expected):
    """The loop trains on every batch."""
    trained, steps = len(seen.events("workload")), expected["steps"]
    assert trained, _("train.step() was never called. Go through train.batches() and train on each batch.")
    assert trained >= steps, mistake("loop_cut_short", trained=trained, steps=steps)
    assert trained == steps, _(
        "train.step() was called {trained} times for {steps} batches. Train once on each.", trained=trained, steps=steps
    )
    assert seen.then["change"] == approx(expected["change"], rel=0.01), _(
        "The weights don't change as in the loop without a profiler. Call train.step(batch) for each batch."
    )


@pytest.mark.points(1)
def test_tells_the_profiler_when_a_step_is_over(seen):
    """The profiler is told of each step, once, when it is over."""
    check_is_told(seen)


@pytest.mark.points(2)
def test_records_three_steps_after_a_warm_up(seen):
    """Steps 4 to 6 are recorded, after one step of warm-up."""
    check_is_told(seen)
    check_is_recorded_once(seen)
    (recorded,) = recordings(seen)
    assert warm_up_steps(seen), mistake("no_warmup_step", recorded=spoken(recorded))
    assert recorded == ASKED, _(
        "You recorded {recorded}; asked for were steps 4 to 6: two steps off, one of warm-up, three recorded.",
        recorded=spoken(recorded),
    )


@pytest.mark.points(2)
def test_writes_one_trace(seen):
    """One trace lies in the folder, with the recorded steps and the GPU's work."""
    exports, traces = seen.events("trace_export"), seen.then["traces"]
    if not traces:
        check_is_told(seen)
        assert exports or not seen.events("profiler_start"), mistake("recorded_but_not_exported")
        lost = [event for event in exports if not event["written"]]
        assert not lost, mistake("trace_into_a_missing_folder", path=lost[0]["path"])
        elsewhere = _(" You wrote {path}.", path=exports[0]["path"]) if exports else ""
        assert traces, _(
            "There is no .json or .json.gz in the folder that was asked for.{elsewhere}", elsewhere=elsewhere
        )
    assert "error" not in traces[0], _(
        "{name} can't be read as a trace ({error}).", name=traces[0]["name"], error=traces[0].get("error")
    )
    assert exports, _(
        "The trace in the folder isn't your profiler's: it never exported one. Let it write what it recorded."
    )
    if len(traces) == 1 and traces[0]["steps"] == len(ASKED) and traces[0]["kernels"]:
        return
    check_is_told(seen)
    check_is_recorded_once(seen)
    activities = seen.events("profiler_start")[0]["activities"]
    assert "CUDA" in activities, mistake("gpu_not_recorded", recorded=_("the CPU"))
    assert "CPU" in activities, mistake("cpu_not_recorded", recorded=_("the GPU"))
    assert len(traces) == 1, _(
        "There are {count} traces in the folder. Write one, when the recording is complete.", count=len(traces)
    )
    assert traces[0]["steps"] == len(ASKED), _(
        "Your trace holds {steps} steps of the loop instead of 3.", steps=traces[0]["steps"]
    )
    assert traces[0]["kernels"], _("There is no kernel in your trace. Record ProfilerActivity.CUDA as well.")
