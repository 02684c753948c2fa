"""profile_one_step: one warm step, CPU and GPU, with nothing of an earlier step in it."""

import pytest

from grader.api import Seen, mistake, workload


@pytest.fixture(scope="module")
def seen(submission) -> Seen:
    return submission.call("profile_one_step", workload("training_step", reads_loss=False, evaluates=False))


@pytest.fixture(scope="module")
def profile(submission, seen) -> dict:
    """What the returned profiler holds."""
    profile = seen.value.get("$profile") if type(seen.value) is dict else None
    assert profile is not None, "Return the finished torch.profiler.profile."
    starts, steps = seen.events("profiler_start"), len(seen.events("profiler_step"))
    waits = any(event["scheduled"] for event in starts) or (not starts and "schedule" in submission.source)
    assert profile["rows"] or not waits, mistake("schedule_without_step", steps=steps)
    assert starts, "No profiler was started. Use it as a context: with profile(...) as prof."
    assert "error" not in profile, (
        "Your profiler never finished. Leave its with block (or stop it) before you return it."
    )
    assert profile["rows"], "Your profiler recorded nothing. Call step() while it is on."
    return profile


def calls_of(profile: dict, name: str) -> int:
    """How often a named part of the step was recorded. A real GPU gives it a row of its own beside the CPU's."""
    return max((row["count"] for row in profile["rows"] if row["key"] == name), default=0)


def recorded(profile: dict) -> str:
    return "the " + " and the ".join("GPU" if name == "CUDA" else name for name in profile["activities"])


@pytest.mark.points(1)
def test_records_cpu_and_gpu(profile):
    """The CPU and the GPU are recorded."""
    assert "CUDA" in profile["activities"], mistake("gpu_not_recorded", recorded=recorded(profile))
    assert "CPU" in profile["activities"], mistake("cpu_not_recorded", recorded=recorded(profile))
    assert any(row["is_kernel"] for row in profile["rows"]), "No kernel is in your profile. Call step() while it is on."


@pytest.mark.points(1)
def test_records_exactly_one_step(profile):
    """Exactly one step is recorded, whole."""
    assert "CPU" in profile["activities"], mistake("cpu_not_recorded", recorded=recorded(profile))
    steps = calls_of(profile, "train_step")
    assert steps > 0, "No step() is in your profile. Call it while the profiler is on."
    assert steps == 1, mistake("too_many_steps_profiled", steps=steps)


@pytest.mark.points(1)
def test_records_a_warm_step(seen, profile):
    """The step that is recorded isn't the first one."""
    begins = [event["n"] for event in seen.events("workload", phase="begin")]
    assert begins, "step() was never called."
    assert not calls_of(profile, "choose_splits"), mistake("cold_step_profiled")
    starts = seen.events("profiler_start")
    assert starts[-1]["scheduled"] or begins[0] < starts[-1]["n"], mistake("cold_step_profiled")


@pytest.mark.points(1)
def test_starts_when_the_gpu_is_idle(seen, profile):
    """The GPU has finished earlier steps when the recording starts."""
    starts = seen.events("profiler_start")
    # With a schedule the profiler itself leaves out what was launched before its active steps.
    assert starts[-1]["scheduled"] or not starts[-1]["gpu_busy"], mistake("earlier_kernels_profiled")
