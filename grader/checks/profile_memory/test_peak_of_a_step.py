"""peak_of_a_step: the peak of one call, not an older one, nor what is left after it."""

import pytest

from grader.api import Seen, approx, mistake, named, workload
from lab.language import _

MIB = 2**20
UNITS = {"KiB": 2**10, "MiB": MIB, "MB": 10**6, "GiB": 2**30, "GB": 10**9}


@pytest.fixture(scope="module")
def steps(submission) -> list[tuple[dict[str, int], Seen]]:
    """A step and one with more activations, each with what it needs."""
    more = workload("steps_with_a_peak", activations_mib=26 + submission.random.randrange(8))
    steps = [workload("steps_with_a_peak"), more]
    expected = [submission.expected(step) for step in steps]
    return [(needs, submission.call("peak_of_a_step", step)) for needs, step in zip(expected, steps, strict=True)]


def is_about(value: float, expected: float) -> bool:
    """Equal, but for the way in which the allocator cuts its blocks."""
    return value == approx(expected, rel=0.04)


def check_unit(reported: float, peak_bytes: int) -> None:
    for unit, size in UNITS.items():
        assert not is_about(reported, peak_bytes / size), mistake(
            "mebibytes_for_bytes", reported=float(reported), unit=unit
        )


def check_is_the_peak(expected: dict[str, int], seen: Seen) -> None:
    begins, ends = seen.events("workload", phase="begin"), seen.events("workload", phase="end")
    assert ends, _("step() was never called to its end.")
    peak, kept, earlier = expected["peak_bytes"], expected["kept_bytes"], expected["earlier_peak_bytes"]
    reported = seen.value
    assert type(reported) in (int, float), _(
        "You returned {reported}. Return one whole number: bytes.", reported=named(reported)
    )
    check_unit(reported, peak)

    values = {"reported_mib": reported / MIB, "peak_mib": peak / MIB, "kept_mib": kept / MIB}
    reads = [event for event in seen.events("memory_read") if event["value_bytes"] == reported]
    read_reserved = bool(reads) and all("reserved" in event["call"] for event in reads)
    assert not read_reserved, mistake("reserved_for_allocated", **values)
    if is_about(reported, peak):
        return
    resets = [event["n"] for event in seen.events("peak_reset")]
    reset_after = any(n > ends[0]["n"] for n in resets)
    assert not (is_about(reported, kept) and reset_after), mistake("peak_reset_too_late", **values)
    assert not is_about(reported, kept), mistake("after_for_peak", **values)
    assert not is_about(reported, peak - kept), mistake("increase_for_peak", **values)
    emptied = begins[0]["reserved_bytes"] < expected["reserved_bytes"]
    assert not (is_about(reported, earlier) and emptied), mistake("cache_emptied_for_peak_reset", **values)
    assert not is_about(reported, earlier), mistake("peak_not_reset", **values)
    profiled_memory = any(event["profile_memory"] for event in seen.events("profiler_start"))
    assert not profiled_memory, mistake("column_for_peak", **values)
    assert is_about(reported, peak), _(
        "You report {reported:.1f} MiB; the peak of the step is {peak:.1f} MiB.",
        reported=reported / MIB,
        peak=peak / MIB,
    )


@pytest.mark.points(1)
def test_returns_whole_bytes(steps):
    """The answer is a whole number of bytes."""
    expected, seen = steps[0]
    assert type(seen.value) in (int, float), _(
        "You returned {value}. Return one whole number: bytes.", value=named(seen.value)
    )
    check_unit(seen.value, expected["peak_bytes"])
    assert type(seen.value) is int, _("Bytes are whole: return an int.")


@pytest.mark.points(2)
def test_reports_the_peak_of_the_step(steps):
    """It is the peak of this step, not an older one, nor what is left after it."""
    check_is_the_peak(*steps[0])


@pytest.mark.points(1)
def test_reports_a_larger_peak_too(steps):
    """The same holds for a step with more activations."""
    check_is_the_peak(*steps[1])
