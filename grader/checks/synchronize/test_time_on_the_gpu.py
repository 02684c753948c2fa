"""time_on_the_gpu: the whole time that the GPU needs for one call, and nothing else."""

import pytest

from grader.api import Seen, approx, mistake, workload

# Earlier work takes four times as long as the call, launching it a small part of it: nothing lies near these bounds.
LEAST, MOST = 0.7, 1.6


@pytest.fixture(scope="module")
def seen(submission) -> Seen:
    return submission.call("time_on_the_gpu", workload("queued_matmuls"))


@pytest.fixture(scope="module")
def longer(submission) -> Seen:
    """The same with more work."""
    return submission.call("time_on_the_gpu", workload("queued_matmuls", length=80 + submission.random.randrange(20)))


def gpu_s(seen: Seen) -> float:
    """What the GPU needs for one call, measured before the submission was called."""
    begins = seen.events("workload", phase="begin")
    assert begins, "work() was never called."
    return begins[0]["gpu_s"]


def reported_s(seen: Seen) -> float:
    assert type(seen.value) in (int, float), "Return one number: the seconds that the GPU needs."
    assert seen.value > 0, f"You report {seen.value:g} seconds. Return how long the GPU needs for one call of work()."
    assert not 500 < seen.value / gpu_s(seen) < 2000, mistake(
        "milliseconds_for_seconds", reported=float(seen.value), expected=gpu_s(seen)
    )
    return seen.value


def check_waits_to_the_end(seen: Seen) -> None:
    values = {"reported_ms": reported_s(seen) * 1000, "gpu_ms": gpu_s(seen) * 1000}
    if reported_s(seen) >= LEAST * gpu_s(seen):
        return
    launched = seen.events("workload", phase="end")[-1]["n"]
    reads = [event["n"] for event in seen.events("clock_read") if event["n"] > launched]
    waits = [event["n"] for event in seen.events("wait") if event["n"] > launched]
    assert not (reads and waits and waits[-1] > reads[-1]), mistake("waited_after_the_clock", **values)
    assert reported_s(seen) == approx(gpu_s(seen)), mistake("clock_stopped_early", **values)


def check_counts_only_one_call(seen: Seen) -> None:
    values = {"reported_ms": reported_s(seen) * 1000, "gpu_ms": gpu_s(seen) * 1000}
    if reported_s(seen) <= MOST * gpu_s(seen):
        return
    calls = len(seen.events("workload", phase="begin"))
    waited_before = any(event["n"] < seen.events("workload", phase="begin")[0]["n"] for event in seen.events("wait"))
    assert not (calls > 1 and waited_before), mistake("total_for_one_call", calls=calls, **values)
    assert reported_s(seen) == approx(gpu_s(seen)), mistake("earlier_work_counted", **values)


@pytest.mark.points(2)
def test_stops_the_clock_when_the_gpu_has_finished(seen):
    """The clock is stopped after the GPU has finished."""
    check_waits_to_the_end(seen)


@pytest.mark.points(1)
def test_does_not_count_earlier_work(seen):
    """Work that was queued earlier isn't counted."""
    check_waits_to_the_end(seen)
    check_counts_only_one_call(seen)


@pytest.mark.points(1)
def test_measures_more_work_too(longer):
    """The same holds for a longer chain of work."""
    check_waits_to_the_end(longer)
    check_counts_only_one_call(longer)
