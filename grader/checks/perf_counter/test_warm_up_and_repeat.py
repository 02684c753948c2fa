"""time_step: the first call apart, the median and the spread of at least five later ones."""

from statistics import mean, median
from typing import Any

import pytest

from grader.api import Seen, approx, mistake, workload

FEWEST = 5
KEYS = ["first_s", "median_s", "spread_s"]


@pytest.fixture(scope="module")
def seen(submission) -> Seen:
    return submission.call("time_step", workload("training_step"))


@pytest.fixture(scope="module")
def calls_s(seen) -> list[float]:
    """How long each call of step() took, by what the step itself recorded."""
    begins, ends = seen.events("workload", phase="begin"), seen.events("workload", phase="end")
    return [end["at_s"] - begin["at_s"] for begin, end in zip(begins, ends, strict=False)]


@pytest.fixture(scope="module")
def series(seen, calls_s) -> list[list[float]]:
    """The duration of each call as the step recorded it, and as the submission's own clock readings around it tell.

    Both are the same but for what happens in between; on a busy machine that can be a lot.
    """
    readings = seen.events("clock_read")
    read_s = []
    for begin, end in zip(seen.events("workload", phase="begin"), seen.events("workload", phase="end"), strict=False):
        before = [read["value_s"] for read in readings if read["n"] < begin["n"]]
        after = [read["value_s"] for read in readings if read["n"] > end["n"]]
        read_s.append(after[0] - before[-1] if before and after else end["at_s"] - begin["at_s"])
    return [calls_s, read_s]


@pytest.fixture(scope="module")
def runs(series) -> list[list[float]]:
    """The later calls that may have been timed: at least five, at equal distances, after any warm-up calls."""
    taken = (
        durations[first::distance]
        for durations in series
        for distance in (1, 2, 3)
        for first in range(1, len(durations))
    )
    return [run for run in taken if len(run) >= FEWEST]


def is_about(value: float, expected_s: float) -> bool:
    """Equal, but for what reading the clock costs."""
    return value == approx(expected_s, rel=0.05)


def is_spread(value: float, run: list[float]) -> bool:
    """The spread of these calls; the error of the two readings in it is in proportion to a call."""
    return value == approx(max(run) - min(run), abs=0.2 * median(run))


def clocks(seen: Seen) -> set[str]:
    """The clocks that the submission read itself, seconds and nanoseconds as one."""
    return {event["call"].removesuffix("_ns") for event in seen.events("clock_read")}


def number(seen: Seen, key: str) -> float:
    """The number of seconds under this key."""
    assert clocks(seen) != {"time.process_time"}, mistake("clock_that_stops_while_waiting")
    value: Any = seen.value.get(key) if type(seen.value) is dict else None
    assert type(value) in (int, float), f'Return a dictionary with a number of seconds under "{key}".'
    return value


@pytest.mark.points(1)
def test_reports_the_first_call_apart(seen, calls_s, series):
    """The first call is reported apart."""
    reported_s = number(seen, "first_s")
    assert sorted(seen.value) == KEYS, 'The keys should be "first_s", "median_s" and "spread_s", nothing else.'
    assert calls_s, "step() was never called to its end."
    assert any(is_about(reported_s, durations[0]) for durations in series), mistake(
        "first_call_not_reported", first_ms=calls_s[0] * 1000, reported_ms=reported_s * 1000
    )


@pytest.mark.points(1)
def test_times_at_least_five_later_calls(seen, calls_s):
    """At least five later calls are timed."""
    later = max(0, len(calls_s) - 1)
    assert later >= FEWEST, mistake("too_few_repeats", timed=later)


@pytest.mark.points(1)
def test_median_is_of_the_later_calls(seen, calls_s, series, runs):
    """The median is that of the later calls."""
    reported_s = number(seen, "median_s")
    assert runs, mistake("too_few_repeats", timed=max(0, len(calls_s) - 1))
    if any(is_about(reported_s, median(run)) for run in runs):
        return
    later_s = median(calls_s[1:])
    is_mean = any(is_about(reported_s, mean(run)) for run in runs)
    assert not is_mean, mistake("mean_for_the_median", reported_ms=reported_s * 1000, median_ms=later_s * 1000)
    with_cold = any(is_about(reported_s, middle(durations)) for durations in series for middle in (mean, median))
    assert not with_cold, mistake(
        "cold_call_among_the_later_ones", key="median_s", first_ms=calls_s[0] * 1000, later_ms=later_s * 1000
    )
    assert reported_s == approx(later_s), (
        f"You report {reported_s * 1000:.1f} ms; the median of the later calls is {later_s * 1000:.1f} ms."
    )


@pytest.mark.points(1)
def test_spread_is_of_the_later_calls(seen, calls_s, series, runs):
    """The spread is that of the later calls."""
    reported_s = number(seen, "spread_s")
    assert runs, mistake("too_few_repeats", timed=max(0, len(calls_s) - 1))
    if any(is_spread(reported_s, run) for run in runs):
        return
    later = calls_s[1:]
    assert not any(is_spread(reported_s, durations) for durations in series), mistake(
        "cold_call_among_the_later_ones", key="spread_s", first_ms=calls_s[0] * 1000, later_ms=median(later) * 1000
    )
    assert reported_s == approx(max(later) - min(later)), (
        f"You report a spread of {reported_s * 1000:.1f} ms; from the fastest to the slowest of the later calls "
        f"it is {(max(later) - min(later)) * 1000:.1f} ms."
    )


@pytest.mark.points(1)
def test_reads_a_clock_that_only_counts_on(seen):
    """The clock is one that can't be set and doesn't stop."""
    assert clocks(seen) != {"time.process_time"}, mistake("clock_that_stops_while_waiting")
    assert clocks(seen) != {"time.time"}, mistake("clock_that_can_jump", clock="time.time()")
