"""profile_one_step: one warm step, CPU and GPU, with nothing of an earlier step in it."""

import pytest

from grader.api import Seen, mistake, named, workload
from lab.language import _

STEP = workload("training_step", reads_loss=False, varies=False)
# The kernels of a step in a profile take about as long as elsewhere; on a real GPU it has its moods.
NEAR, NEAR_ON_A_REAL_GPU = (0.8, 1.25), (0.3, 2.0)


@pytest.fixture(scope="module")
def expected(submission) -> dict[str, float]:
    """What the GPU needs for a warm step."""
    return submission.expected(STEP)


@pytest.fixture(scope="module")
def seen(submission, expected) -> Seen:
    return submission.call("profile_one_step", STEP)


@pytest.fixture(scope="module")
def profile(seen) -> dict:
    """What the returned profiler holds."""
    profile = seen.value.get("$profile") if type(seen.value) is dict else None
    assert profile is not None, _(
        "You returned {value}. Return the finished torch.profiler.profile.", value=named(seen.value)
    )
    starts, steps = seen.events("profiler_start"), len(seen.events("profiler_step"))
    waits = bool(seen.events("profiler_made", scheduled=True))
    assert profile["rows"] or not waits, mistake("schedule_without_step", steps=steps)
    assert starts, _("No profiler was started. Use it as a context: with profile(...) as prof.")
    stops = [event["n"] for event in seen.events("profiler_stop")]
    assert stops[-1:] > [starts[-1]["n"]], mistake("profile_never_finished")
    assert profile["rows"], _("Your profiler recorded nothing. Call step() while it is on.")
    return profile


def calls_of(profile: dict, name: str) -> int:
    """How often a named part of the step was recorded. A real GPU gives it a row of its own beside the CPU's."""
    return max((row["count"] for row in profile["rows"] if row["key"] == name), default=0)


def check_is_step(seen: Seen, profile: dict, step_s: float) -> None:
    """What was recorded are the kernels of step(), not something that goes by its name."""
    start, cold = seen.events("profiler_start")[-1], calls_of(profile, "choose_splits") > 0
    stops = [event["n"] for event in seen.events("profiler_stop") if event["n"] > start["n"]]
    begins = [event["n"] for event in seen.events("workload", phase="begin")]
    assert start["scheduled"] or any(start["n"] < n < stop for n in begins for stop in stops[:1]), _(
        "No step() was called while your profiler was on."
    )
    least, most = NEAR if seen.gpu.kind == "simulated" else NEAR_ON_A_REAL_GPU
    kernels_s = sum(row["self_device_us"] for row in profile["rows"] if row["is_kernel"]) / 1e6
    alone = "CUDA" in profile["activities"] and not cold and not (start["gpu_busy"] and not start["scheduled"])
    assert not alone or least * step_s <= kernels_s <= most * step_s, _(
        "The kernels in your profile took {kernels_s:.1f} ms; those of one step() take about "
        "{step_s:.1f} ms. Record one whole step() and nothing else.",
        kernels_s=kernels_s * 1000,
        step_s=step_s * 1000,
    )


def recorded(profile: dict) -> str:
    return _(" and ").join(_("the GPU") if name == "CUDA" else _("the CPU") for name in profile["activities"])


@pytest.mark.points(1)
def test_records_cpu_and_gpu(profile):
    """The CPU and the GPU are recorded."""
    assert "CUDA" in profile["activities"], mistake("gpu_not_recorded", recorded=recorded(profile))
    assert "CPU" in profile["activities"], mistake("cpu_not_recorded", recorded=recorded(profile))
    assert any(row["is_kernel"] for row in profile["rows"]), _(
        "No kernel is in your profile. Call step() while it is on."
    )


@pytest.mark.points(1)
def test_records_exactly_one_step(seen, profile, expected):
    """Exactly one step is recorded, whole."""
    assert "CPU" in profile["activities"], mistake("cpu_not_recorded", recorded=recorded(profile))
    steps = calls_of(profile, "train_step")
    assert steps > 0, _("No step() is in your profile. Call it while the profiler is on.")
    assert steps == 1, mistake("too_many_steps_profiled", steps=steps)
    check_is_step(seen, profile, expected["step_s"])


@pytest.mark.points(1)
def test_records_a_warm_step(seen, profile):
    """The step that is recorded isn't the first one."""
    begins = [event["n"] for event in seen.events("workload", phase="begin")]
    assert begins, _("step() was never called.")
    assert not calls_of(profile, "choose_splits"), mistake("cold_step_profiled")
    starts = seen.events("profiler_start")
    assert starts[-1]["scheduled"] or begins[0] < starts[-1]["n"], mistake("cold_step_profiled")


@pytest.mark.points(1)
def test_starts_when_the_gpu_is_idle(seen, profile):
    """The GPU has finished earlier steps when the recording starts."""
    starts = seen.events("profiler_start")
    # With a schedule the profiler itself leaves out what was launched before its active steps.
    assert starts[-1]["scheduled"] or not starts[-1]["gpu_busy"], mistake("earlier_kernels_profiled")
