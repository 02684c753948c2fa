"""time_step: the first call apart, the median and the spread of at least five later ones."""

from statistics import mean, median, median_high, median_low
from typing import Any

import pytest

from grader.api import Seen, approx, mistake, named, other_unit, workload
from lab.language import _

FEWEST = 5
KEYS = ["first_s", "median_s", "spread_s"]
STEPS = workload("training_step")
DIGITS = (3, 4)  # to which people round seconds: fewer than `precision` allows
# What a call takes is the GPU's time, with less than that on top; a real GPU has more to do in a first call.
LEAST, MOST, MOST_ON_A_REAL_GPU = 0.7, 2.0, 20.0


@pytest.fixture(scope="module")
def expected(submission) -> dict[str, float]:
    """What the GPU needs for the parts of these steps."""
    return submission.expected(STEPS)


@pytest.fixture(scope="module")
def seen(submission, expected) -> Seen:
    return submission.call("time_step", STEPS)


@pytest.fixture(scope="module")
def calls_s(seen) -> list[float]:
    """How long each call of step() took, by what the step itself recorded."""
    begins, ends = seen.events("workload", phase="begin"), seen.events("workload", phase="end")
    return [end["at_s"] - begin["at_s"] for begin, end in zip(begins, ends, strict=False)]


@pytest.fixture(scope="module")
def read_s(seen, calls_s) -> list[float | None]:
    """How long each call took by the submission's own readings right before and after it; None without them."""
    begins, ends = seen.events("workload", phase="begin"), seen.events("workload", phase="end")
    readings = seen.events("clock_read")
    durations: list[float | None] = []
    for call in range(len(calls_s)):
        earliest = ends[call - 1]["n"] if call else -1
        latest = begins[call + 1]["n"] if call + 1 < len(begins) else len(seen.observed)
        before = [read["value_s"] for read in readings if earliest < read["n"] < begins[call]["n"]]
        after = [read["value_s"] for read in readings if ends[call]["n"] < read["n"] < latest]
        durations.append(after[0] - before[-1] if before and after else None)
    return durations


@pytest.fixture(scope="module")
def series(calls_s, read_s) -> list[list[float]]:
    """All calls by both measures. They differ by what happens in between: on a busy machine that can be a lot."""
    by_readings = [call if read is None else read for call, read in zip(calls_s, read_s, strict=True)]
    return [calls_s, by_readings]


@pytest.fixture(scope="module")
def runs(series, read_s) -> list[list[float]]:
    """The later calls that may have been timed: at least five, the last ones, after any warm-up calls.

    Those that the submission read a clock around. A benchmark's Timer reads one unseen, and not around its own
    warm-up calls: then they are the last ones at equal distances.
    """
    timed = [read for read in read_s[1:] if read is not None]
    if len(timed) >= FEWEST:
        return [timed[first:] for first in range(len(timed) - FEWEST + 1)]
    taken = (
        durations[:0:-distance][:count]
        for durations in series
        for distance in (1, 3)
        for count in range(len(durations))
    )
    return [run for run in taken if len(run) >= FEWEST]


@pytest.fixture(scope="module")
def precision(read_s) -> float:
    """How exactly a number must be what those calls give: to the digit, where the submission's readings are known."""
    return 0.001 if sum(read is not None for read in read_s[1:]) >= FEWEST else 0.05


def is_about(value: float, expected_s: float, precision: float = 0.05) -> bool:
    """Equal, but for what reading the clock costs, or rounding."""
    return value == approx(expected_s, rel=precision) or value in [round(expected_s, digits) for digits in DIGITS]


def is_median(value: float, run: list[float], precision: float = 0.05) -> bool:
    """The median of these calls; of an even number, one of the two in the middle will do, as PyTorch's median is."""
    return any(is_about(value, middle(run), precision) for middle in (median, median_low, median_high))


def is_spread(value: float, run: list[float], precision: float = 0.05) -> bool:
    """The spread of these calls; the error of the two readings in it is in proportion to a call."""
    spread_s = max(run) - min(run)
    rounded = [round(spread_s, digits) for digits in DIGITS]
    of_rounded = [round(max(run), digits) - round(min(run), digits) for digits in DIGITS]
    return value == approx(spread_s, abs=4 * precision * median(run)) or any(
        value == approx(each, abs=1e-9) for each in rounded + of_rounded
    )


def check_times_each_call(values: dict, read_s: list[float | None], runs: list[list[float]]) -> None:
    """The later calls were timed one by one: their mean without a reading between them is one number for all."""
    one_number = any(is_about(values["median_s"], mean(run)) for run in runs)
    unread = all(read is None for read in read_s[1:])
    assert not (one_number and unread), mistake(
        "one_interval_for_all_calls", timed=len(read_s) - 1, reported_ms=values["median_s"] * 1000
    )


def check_is_measured(seen: Seen, key: str, value: float, expected_s: float) -> None:
    """Not just what this process says of itself, but near what was measured apart from it."""
    most = MOST if seen.gpu.kind == "simulated" else MOST_ON_A_REAL_GPU
    assert LEAST * expected_s <= value <= most * expected_s, _(
        "Your {key} is {value:.1f} ms. Measured apart from your code, it is about {expected_s:.0f} ms.",
        key=key,
        value=value * 1000,
        expected_s=expected_s * 1000,
    )


def number(seen: Seen, key: str, calls_s: list[float]) -> float:
    """The number of seconds under this key."""
    assert seen.clocks() != {"time.process_time"}, mistake("clock_that_stops_while_waiting")
    value: Any = seen.value.get(key) if type(seen.value) is dict else None
    assert type(seen.value) is dict, _("You returned {value}. Return a dictionary of seconds.", value=named(seen.value))
    assert key in seen.value, _('Your dictionary has no "{key}".', key=key)
    assert type(value) in (int, float), _(
        'Under "{key}" is {value}, not a number of seconds.', key=key, value=named(value)
    )
    first = seen.value.get("first_s")
    if calls_s and isinstance(first, int | float):
        unit = other_unit(first, calls_s[0])
        assert unit is None, mistake("other_unit_than_seconds", reported=float(first), unit=unit, expected=calls_s[0])
    return value


@pytest.mark.points(1)
def test_reports_the_first_call_apart(seen, expected, calls_s, series):
    """The first call is reported apart."""
    reported_s = number(seen, "first_s", calls_s)
    assert sorted(seen.value) == KEYS, _('The keys should be "first_s", "median_s" and "spread_s", nothing else.')
    assert calls_s, _("step() was never called to its end.")
    assert any(is_about(reported_s, durations[0]) for durations in series), mistake(
        "first_call_not_reported", first_ms=calls_s[0] * 1000, reported_ms=reported_s * 1000
    )
    check_is_measured(seen, "first_s", reported_s, expected["choosing_s"] + expected["step_s"])


@pytest.mark.points(1)
def test_times_at_least_five_later_calls(seen, calls_s):
    """At least five later calls are timed."""
    later = max(0, len(calls_s) - 1)
    assert later >= FEWEST, mistake("too_few_repeats", timed=later)


@pytest.mark.points(1)
def test_median_is_of_the_later_calls(seen, expected, calls_s, read_s, series, runs, precision):
    """The median is that of the later calls."""
    reported_s = number(seen, "median_s", calls_s)
    assert runs, mistake("too_few_repeats", timed=max(0, len(calls_s) - 1))
    if any(is_median(reported_s, run, precision) for run in runs):
        check_is_measured(seen, "median_s", reported_s, expected["step_s"])
        return
    check_times_each_call(seen.value, read_s, runs)
    later_s = median(calls_s[1:])
    is_mean = any(is_about(reported_s, mean(run), precision) for run in runs)
    assert not is_mean, mistake("mean_for_the_median", reported_ms=reported_s * 1000, median_ms=later_s * 1000)
    with_cold = any(is_about(reported_s, middle(durations)) for durations in series for middle in (mean, median))
    assert not with_cold, mistake(
        "cold_call_among_the_later_ones", key="median_s", first_ms=calls_s[0] * 1000, later_ms=later_s * 1000
    )
    assert reported_s == approx(later_s), _(
        "You report {reported_s:.1f} ms; the median of the later calls is {later_s:.1f} ms.",
        reported_s=reported_s * 1000,
        later_s=later_s * 1000,
    )


@pytest.mark.points(1)
def test_spread_is_of_the_later_calls(seen, expected, calls_s, read_s, series, runs, precision):
    """The spread is that of the later calls."""
    reported_s = number(seen, "spread_s", calls_s)
    assert runs, mistake("too_few_repeats", timed=max(0, len(calls_s) - 1))
    if any(is_spread(reported_s, run, precision) for run in runs):
        check_is_measured(seen, "spread_s", reported_s, expected["evaluating_s"])
        return
    number(seen, "median_s", calls_s)
    check_times_each_call(seen.value, read_s, runs)
    later = calls_s[1:]
    assert not any(is_spread(reported_s, durations) for durations in series), mistake(
        "cold_call_among_the_later_ones", key="spread_s", first_ms=calls_s[0] * 1000, later_ms=median(later) * 1000
    )
    assert reported_s == approx(max(later) - min(later)), _(
        "You report a spread of {reported_s:.1f} ms; from the fastest to the slowest of the "
        "later calls it is {later:.1f} ms.",
        reported_s=reported_s * 1000,
        later=(max(later) - min(later)) * 1000,
    )


@pytest.mark.points(1)
def test_reads_a_clock_that_only_counts_on(seen):
    """The clock is one that can't be set and doesn't stop."""
    assert seen.clocks() != {"time.process_time"}, mistake("clock_that_stops_while_waiting")
    assert seen.clocks() != {"time.time"}, mistake("clock_that_can_jump", clock="time.time()")
