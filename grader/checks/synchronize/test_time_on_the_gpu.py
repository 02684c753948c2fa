"""time_on_the_gpu: the whole time that the GPU needs for one call, and nothing else."""

import pytest

from grader.api import Seen, approx, mistake, named, other_unit, workload
from lab.language import _

# Earlier work takes three times as long as the call, launching it a small part of it: nothing lies near these bounds.
LEAST, MOST = 0.7, 1.6


@pytest.fixture(scope="module")
def chains(submission) -> list[tuple[float, Seen]]:
    """A chain of products and one that takes much longer, each with the seconds that the GPU needs for it.

    In one of them a product takes about three times as long as in the other: neither the same number for both,
    nor one in proportion to the number of products, is near what both take.
    """
    draw = submission.random
    narrow, wide = draw.randrange(4, 7), draw.randrange(17, 24)
    heights = draw.choice([(narrow, wide), (wide, narrow)])
    budgets = draw.randrange(220, 340), draw.randrange(940, 1100)
    works = [
        workload("queued_matmuls", height=height, length=budget // height)
        for height, budget in zip(heights, budgets, strict=True)
    ]
    expected = [submission.expected(work)["gpu_s"] for work in works]
    return [(gpu_s, submission.call("time_on_the_gpu", work)) for gpu_s, work in zip(expected, works, strict=True)]


def reported_s(gpu_s: float, seen: Seen) -> float:
    begins = seen.events("workload", phase="begin")
    assert begins, _("work() was never called.")
    assert type(seen.value) in (int, float), _(
        "You returned {value}. Return one number: the seconds that the GPU needs.", value=named(seen.value)
    )
    assert seen.clocks() != {"time.process_time"}, mistake("clock_that_stops_while_waiting")
    assert seen.value > 0, _(
        "You report {value:g} seconds. Return how long the GPU needs for one call of work().", value=seen.value
    )
    assert not 500 < seen.value / gpu_s < 2000, mistake(
        "milliseconds_for_seconds", reported=float(seen.value), expected=gpu_s
    )
    unit = other_unit(seen.value, gpu_s)
    assert unit is None, mistake("other_unit_than_seconds", reported=float(seen.value), unit=unit, expected=gpu_s)
    return seen.value


def check_waits_to_the_end(gpu_s: float, seen: Seen) -> None:
    seconds = reported_s(gpu_s, seen)
    values = {"reported_ms": seconds * 1000, "gpu_ms": gpu_s * 1000}
    if seconds >= LEAST * gpu_s:
        return
    launched = max((event["n"] for event in seen.events("workload", phase="end")), default=0)
    reads = [event["n"] for event in seen.events("clock_read") if event["n"] > launched]
    waits = [event["n"] for event in seen.events("wait") if event["n"] > launched]
    assert not (reads and waits and waits[-1] > reads[-1]), mistake("waited_after_the_clock", **values)
    waited = any(wait < read for wait in waits for read in reads)
    assert waited, mistake("clock_stopped_early", **values)
    assert seconds == approx(gpu_s), _(
        "You report {reported_ms:.2f} ms; the GPU needs {gpu_ms:.0f} ms. You do wait for it "
        "before you read the clock: look at what you make of the two readings. They are "
        "seconds.",
        reported_ms=values["reported_ms"],
        gpu_ms=values["gpu_ms"],
    )


def check_counts_only_one_call(gpu_s: float, seen: Seen) -> None:
    seconds = reported_s(gpu_s, seen)
    values = {"reported_ms": seconds * 1000, "gpu_ms": gpu_s * 1000}
    if seconds <= MOST * gpu_s:
        return
    begins = seen.events("workload", phase="begin")
    waited_before = any(event["n"] < begins[0]["n"] for event in seen.events("wait"))
    assert not (len(begins) > 1 and waited_before), mistake(
        "total_for_one_call", function="work", calls=len(begins), **values
    )
    profiled = bool(seen.events("profiler_start"))
    assert not (profiled and seconds == approx(2 * gpu_s, rel=0.2)), mistake("kernels_counted_twice", **values)
    assert waited_before or profiled, mistake("earlier_work_counted", **values)
    assert seconds == approx(gpu_s), _(
        "You report {reported_ms:.0f} ms; the work itself needs {gpu_ms:.0f} ms. Nothing was "
        "queued before it any more: what else lies between your two readings?",
        reported_ms=values["reported_ms"],
        gpu_ms=values["gpu_ms"],
    )


@pytest.mark.points(2)
def test_stops_the_clock_when_the_gpu_has_finished(chains):
    """The clock is stopped after the GPU has finished."""
    for chain in chains:
        check_waits_to_the_end(*chain)


@pytest.mark.points(1)
def test_does_not_count_earlier_work(chains):
    """Work that was queued earlier isn't counted."""
    check_waits_to_the_end(*chains[0])
    check_counts_only_one_call(*chains[0])


@pytest.mark.points(1)
def test_measures_more_work_too(chains):
    """The same holds for a longer chain of work."""
    check_waits_to_the_end(*chains[1])
    check_counts_only_one_call(*chains[1])
