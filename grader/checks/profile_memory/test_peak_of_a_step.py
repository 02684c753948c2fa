"""peak_of_a_step: the peak of one call, not an older one, nor what is left after it."""

import pytest

from grader.api import Seen, approx, mistake, workload

MIB = 2**20


@pytest.fixture(scope="module")
def seen(submission) -> Seen:
    return submission.call("peak_of_a_step", workload("steps_with_a_peak"))


@pytest.fixture(scope="module")
def larger(submission) -> Seen:
    """A step with more activations."""
    activations_mib = 26 + submission.random.randrange(8)
    return submission.call("peak_of_a_step", workload("steps_with_a_peak", activations_mib=activations_mib))


def is_about(value: float, expected: float) -> bool:
    """Equal, but for the way in which the allocator cuts its blocks."""
    return value == approx(expected, rel=0.04)


def check_is_the_peak(seen: Seen) -> None:
    begins, ends = seen.events("workload", phase="begin"), seen.events("workload", phase="end")
    assert ends, "step() was never called to its end."
    peak, kept, earlier = begins[0]["peak_bytes"], begins[0]["kept_bytes"], begins[0]["earlier_peak_bytes"]
    reported = seen.value
    assert type(reported) in (int, float), "Return one whole number: bytes."
    if is_about(reported, peak):
        return
    assert not is_about(reported, peak / MIB), mistake("mebibytes_for_bytes", reported=float(reported))

    values = {"reported_mib": reported / MIB, "peak_mib": peak / MIB}
    reads = seen.events("memory_read")
    read_reserved = any("reserved" in event["call"] and event["value_bytes"] == reported for event in reads)
    assert not read_reserved, mistake("reserved_for_allocated", **values)
    resets = [event["n"] for event in seen.events("peak_reset")]
    reset_after = any(n > ends[0]["n"] for n in resets)
    assert not (is_about(reported, kept) and reset_after), mistake("peak_reset_too_late", **values)
    assert not is_about(reported, kept), mistake("after_for_peak", **values)
    emptied = begins[0]["cache_emptied"]
    assert not (is_about(reported, earlier) and emptied), mistake("cache_emptied_for_peak_reset", **values)
    assert not is_about(reported, earlier), mistake("peak_not_reset", **values)
    profiled_memory = any(event["profile_memory"] for event in seen.events("profiler_start"))
    assert not profiled_memory, mistake("column_for_peak", **values)
    assert is_about(reported, peak), (
        f"You report {reported / MIB:.1f} MiB; the peak of the step is {peak / MIB:.1f} MiB."
    )


@pytest.mark.points(1)
def test_returns_whole_bytes(seen):
    """The answer is a whole number of bytes."""
    assert type(seen.value) in (int, float), "Return one whole number: bytes."
    peaks = [event["peak_bytes"] for event in seen.events("workload", phase="begin")]
    assert not any(is_about(seen.value, peak / MIB) for peak in peaks), mistake(
        "mebibytes_for_bytes", reported=float(seen.value)
    )
    assert type(seen.value) is int, "Bytes are whole: return an int."


@pytest.mark.points(2)
def test_reports_the_peak_of_the_step(seen):
    """It is the peak of this step, not an older one, nor what is left after it."""
    check_is_the_peak(seen)


@pytest.mark.points(1)
def test_reports_a_larger_peak_too(larger):
    """The same holds for a step with more activations."""
    check_is_the_peak(larger)
