"""time_one_batch: two readings of the right clock, with the training between them and nothing else."""

from math import log

import pytest

from grader.api import Seen, approx, mistake, named, other_unit, workload
from lab.language import _

# For the mean of several calls: the other parts take at least 1.3 times as long as training.
LEAST, MOST = 0.7, 1.6
# For one call, whose time is known: what it takes longer is the machine's doing. No time is right for both models.
LEAST_ONCE, MOST_ONCE = 0.9, 2.5
PARTS = ("load", "train", "log")
Timed = tuple[float, Seen]  # the seconds that training takes, measured apart, and what the submission did


@pytest.fixture(scope="module")
def loops(submission) -> list[Timed]:
    """A small model and a big one: no number is near what both take."""
    draw = submission.random
    layers = [draw.randrange(4, 6), draw.randrange(14, 18)]
    works = [workload("parts_of_a_loop", layers=count) for count in layers]
    expected = [submission.expected(work)["train_s"] for work in works]
    return [(train_s, submission.call("time_one_batch", work)) for train_s, work in zip(expected, works, strict=True)]


def seconds_of(seen: Seen, part: str) -> float:
    """How long the first call of this part took."""
    begins, ends = (seen.events("workload", part=part, phase=phase) for phase in ("begin", "end"))
    return ends[0]["at_s"] - begins[0]["at_s"] if ends else 0.0


def read_around_training_s(seen: Seen) -> float:
    """What the submission's own readings right before and right after its first training make; 0 without these."""
    begin, end = (seen.events("workload", part="train", phase=phase)[0]["n"] for phase in ("begin", "end"))
    before, after = seen.observed[:begin][-1:], seen.observed[end + 1 :][:1]
    readings_s = [event["value_s"] for event in before + after if event["what"] == "clock_read"]
    return readings_s[1] - readings_s[0] if len(readings_s) == 2 else 0.0


def check_goes_through_all_parts(seen: Seen) -> None:
    for part in PARTS:
        assert seen.events("workload", part=part, phase="end"), _(
            "loop.{part}() was never called to its end.", part=part
        )


def number(train_s: float, seen: Seen) -> float:
    """The number that came back, if it can be one of seconds."""
    check_goes_through_all_parts(seen)
    value = seen.value
    assert type(value) in (int, float), _("You returned {value}. Return one number of seconds.", value=named(value))
    assert seen.clocks() != {"time.process_time"}, mistake("clock_that_stops_while_waiting")
    readings_s = [event["value_s"] for event in seen.events("clock_read")]
    assert not any(value == approx(reading_s, rel=1e-9) for reading_s in readings_s), mistake(
        "reading_for_duration", reported=float(value)
    )
    assert value > 0 or not readings_s, mistake("readings_subtracted_backwards", reported_ms=value * 1000)
    unit = other_unit(value, train_s)
    assert unit is None, mistake("other_unit_than_seconds", reported=float(value), unit=unit, expected=train_s)
    return value


def check_is_training_alone(train_s: float, seen: Seen) -> None:
    value = number(train_s, seen)
    took = {part: seconds_of(seen, part) for part in PARTS}
    measured_s = (took["train"], read_around_training_s(seen))  # longer on a machine that is busy with something else
    is_measured = any(value == approx(seconds, rel=0.1) for seconds in measured_s)
    trained = len(seen.events("workload", part="train", phase="end"))
    if is_measured and LEAST_ONCE * train_s <= value <= MOST_ONCE * train_s:
        return
    if trained > 1 and LEAST * train_s <= value <= MOST * train_s:
        return
    values = {"reported_ms": value * 1000, "train_ms": train_s * 1000}
    assert trained == 1 or value != approx(trained * train_s, rel=0.3), mistake(
        "total_for_one_call", function="loop.train", calls=trained, reported_ms=value * 1000, gpu_ms=train_s * 1000
    )
    candidates = {
        parts: sum(took[part] for part in parts)
        for parts in (("load",), ("log",), ("load", "train"), ("train", "log"), PARTS)
    }
    parts, total_s = min(candidates.items(), key=lambda candidate: abs(log(max(value, 1e-9) / candidate[1])))
    if value == approx(total_s, rel=0.2):
        assert "train" in parts, mistake("another_part_timed", part=parts[0], **values)
        load_ms, log_ms = took["load"] * 1000, took["log"] * 1000
        assert parts != PARTS, mistake("loading_and_logging_timed_too", load_ms=load_ms, log_ms=log_ms, **values)
        assert "load" not in parts, mistake("loading_timed_too", load_ms=load_ms, **values)
        assert "log" not in parts, mistake("logging_timed_too", log_ms=log_ms, **values)
    assert value == approx(train_s), _(
        "You report {value:.2f} ms. Measured apart from your code, training takes {train_s:.0f} ms. "
        "Read the clock right before loop.train(batch) and right after it.",
        value=value * 1000,
        train_s=train_s * 1000,
    )


@pytest.mark.points(1)
def test_goes_through_the_loop_once(loops):
    """A batch is loaded, trained on, and its loss is logged."""
    for _needs, seen in loops:
        check_goes_through_all_parts(seen)


@pytest.mark.points(2)
def test_reports_training_alone(loops):
    """The time is that of training, without loading and logging."""
    check_is_training_alone(*loops[0])


@pytest.mark.points(1)
def test_measures_a_bigger_model_too(loops):
    """The same holds for a bigger model."""
    check_is_training_alone(*loops[1])


@pytest.mark.points(1)
def test_reads_a_clock_that_only_counts_on(loops):
    """Training alone is timed, by a clock that can't be set and doesn't stop."""
    for train_s, seen in loops:
        number(train_s, seen)
        assert seen.clocks() != {"time.time"}, mistake("clock_that_can_jump", clock="time.time()")
        check_is_training_alone(train_s, seen)
