"""time_the_parts: what each of three parts takes on the GPU, which never has to wait for the host."""

from itertools import accumulate

import pytest

from grader.api import Seen, SubmissionFailed, approx, mistake, named, workload
from lab.language import _

PARTS = workload("queued_parts")
# A part takes at least twice as long as the next shorter one: no other part or sum of parts lies between these bounds.
LEAST, MOST, NOTHING = 0.7, 1.4, 0.1
# What PyTorch says of events that can't be read; the last text is that of older versions.
UNTIMED = "Both events must be created with argument 'enable_timing=True'"
UNRECORDED = "Both events must be recorded before calculating elapsed time"
UNFINISHED = ("Both events must be completed before calculating elapsed time", "device not ready")


@pytest.fixture(scope="module")
def expected(submission) -> list[float]:
    """The seconds that each part takes, measured apart."""
    return submission.expected(PARTS)


@pytest.fixture(scope="module")
def seen(submission, expected) -> Seen:
    try:
        return submission.call("time_the_parts", PARTS)
    except SubmissionFailed as failed:
        said = str(failed)
        assert UNTIMED not in said, mistake("event_without_timing")
        assert UNRECORDED not in said, mistake("event_never_recorded")
        assert not any(text in said for text in UNFINISHED), mistake("event_read_too_early")
        raise


def check_calls_each_part_once(seen: Seen, expected: list[float]) -> None:
    called = [event["part"] for event in seen.events("workload", phase="end")]
    assert called == list(range(len(expected))), _(
        "Each of the {count} parts should be called once, in order. You called {what}.",
        count=len(expected),
        what=called or _("none of them"),
    )


@pytest.fixture(scope="module")
def seconds(seen, expected) -> list[float]:
    """The numbers that came back, one for each part."""
    check_calls_each_part_once(seen, expected)
    values = seen.value
    assert type(values) is list, _(
        "You returned {values}. Return a list of seconds, one for each part.", values=named(values)
    )
    assert len(values) == len(expected), _(
        "Your list has {count} numbers. Return {count2}, one a part.", count=len(values), count2=len(expected)
    )
    for value in values:
        assert type(value) in (int, float), _("In your list is {value}, not a number of seconds.", value=named(value))
    return values


@pytest.fixture(scope="module")
def waits(seen) -> list[str]:
    """The waits after the first part was queued and before the last one was."""
    queued = [event["n"] for event in seen.events("workload")]
    return [event["call"] for event in seen.events("wait") if queued[0] < event["n"] < queued[-1]]


def are(values: list[float], expected: list[float]) -> bool:
    return all(LEAST * right <= value <= MOST * right for value, right in zip(values, expected, strict=True))


@pytest.mark.points(1)
def test_returns_a_number_for_each_part(seconds):
    """Each part is called once, and a list of three numbers comes back."""
    assert len(seconds) == 3, _("Return three numbers.")


@pytest.mark.points(3)
def test_the_times_are_those_of_the_gpu(seen, seconds, waits, expected):
    """The numbers are the seconds that the GPU needs for each part."""
    if are(seconds, expected):
        return
    assert not are([value / 1000 for value in seconds], expected), mistake(
        "milliseconds_for_seconds", reported=float(seconds[0]), expected=expected[0]
    )
    assert not are(seconds, list(accumulate(expected))), mistake(
        "cumulative_for_each_part", reported_ms=seconds[-1] * 1000, gpu_ms=expected[-1] * 1000
    )
    worst = min(range(len(expected)), key=lambda number: seconds[number] / expected[number])
    values = {"reported_ms": seconds[worst] * 1000, "gpu_ms": expected[worst] * 1000}
    assert min(seconds) >= 0, mistake("readings_subtracted_backwards", reported_ms=min(seconds) * 1000)
    if seconds[worst] < LEAST * expected[worst]:
        nothing = seen.events("elapsed_time") and seconds[worst] < NOTHING * expected[worst]
        assert not nothing, mistake("nothing_between_the_events", **values)
        assert not seen.events("clock_read") or waits, mistake("launch_timed_for_a_part", **values)
    values = {"reported_ms": seconds[0] * 1000, "gpu_ms": expected[0] * 1000}
    assert not (seen.events("clock_read") and seconds[0] > MOST * expected[0]), mistake(
        "earlier_work_counted", **values
    )
    for number, (value, right) in enumerate(zip(seconds, expected, strict=True)):
        assert value == approx(right), _(
            "You report {value:.2f} ms for part {number}; the GPU needs {right:.0f} ms for it.",
            value=value * 1000,
            number=number,
            right=right * 1000,
        )


@pytest.mark.points(1)
def test_does_not_wait_between_the_parts(seconds, waits):
    """Nothing waits for the GPU before all parts are queued."""
    assert not waits, mistake("waited_between_the_parts", waits=len(waits), call=_(waits[0]) if waits else "")
