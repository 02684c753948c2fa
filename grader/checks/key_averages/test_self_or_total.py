"""read_the_profile: four questions to one profile, each of which one column of some rows answers and others don't."""

from __future__ import annotations

from typing import Any

import pytest

from grader.api import Seen, approx, mistake, named, workload
from lab.language import _

PROFILE = workload("regions_profile")
REGIONS = ("encoder", "decoder", "head")
KEYS = ("gpu_ms", "waiting_ms", "cpu_operator", "gpu_region")
WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")
READS = ("aten::item", "aten::_local_scalar_dense")
SAME = 0.01  # sums of the same rows; the parts in which two ways of adding differ are larger
ALIKE = 0.25  # two profiles of the same program, on any GPU
NEARLY_MS = 0.2  # whether a copy of one number, or the profiler's own wait, is taken in
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def seen(submission) -> Seen:
    return submission.call("read_the_profile", PROFILE, then=PROFILE)


@pytest.fixture(scope="module")
def rows(seen, submission) -> Rows:
    """The rows of the profile that the submission was given."""
    rows, others = seen.then, submission.expected(PROFILE)
    left_alone = type(rows) is list and {row["key"] for row in rows} == {row["key"] for row in others}
    left_alone = left_alone and gpu_ms(rows) == approx(gpu_ms(others), rel=ALIKE)
    assert left_alone, _("The profile isn't the one that was given. Leave it, and the lab, as they are.")
    return rows


@pytest.fixture(scope="module")
def answers(seen) -> dict[str, Any]:
    value = seen.value
    assert type(value) is dict, _(
        "You returned {value}. Return a dictionary with the keys {list}.", value=named(value), list=", ".join(KEYS)
    )
    missing = [key for key in KEYS if key not in value]
    assert not missing, _(
        "Your dictionary has no {missing!r}. Its keys are {list}.", missing=missing[0], list=", ".join(KEYS)
    )
    return value


def total_ms(rows: Rows, column: str) -> float:
    return sum(row[column] for row in rows) / 1000


def kernels(rows: Rows) -> Rows:
    return [row for row in rows if row["is_kernel"]]


def gpu_ms(rows: Rows) -> float:
    return total_ms(kernels(rows), "self_device_us")


def on_host(rows: Rows) -> Rows:
    """The rows of the CPU's side: neither kernels nor what a label spans on the GPU."""
    return [row for row in rows if not row["is_kernel"] and not is_span(row)]


def is_span(row: dict[str, Any]) -> bool:
    return row["key"] in REGIONS and row["cpu_us"] == 0


def operators(rows: Rows) -> Rows:
    return [row for row in rows if row["key"].startswith("aten::") and not row["is_kernel"]]


def region(rows: Rows, name: str) -> dict[str, Any]:
    return next(row for row in on_host(rows) if row["key"] == name)


def number(answers: dict[str, Any], key: str) -> float:
    value = answers[key]
    assert type(value) in (int, float), _(
        "Your {key} is {value}. Give milliseconds, as a number.", key=key, value=named(value)
    )
    return value


def text(answers: dict[str, Any], key: str) -> str:
    value = answers[key]
    assert type(value) is str, _("Your {key} is {value}. Give the name in the row's key.", key=key, value=named(value))
    return value


def check_unit(key: str, reported: float, expected_ms: float) -> None:
    assert reported != approx(1000 * expected_ms, rel=0.05), mistake(
        "microseconds_for_milliseconds", key=key, reported=reported, expected_ms=expected_ms
    )


@pytest.mark.points(1)
def test_gpu_time(answers, rows):
    """gpu_ms: each kernel's time counts, and counts once."""
    reported = number(answers, "gpu_ms")
    expected_ms = gpu_ms(rows)
    if reported == approx(expected_ms, rel=0.02):
        return
    check_unit("gpu_ms", reported, expected_ms)
    without_spans = [row for row in rows if not is_span(row)]
    on_device = [row for row in rows if row["is_kernel"] or is_span(row)]
    twice = [total_ms(some, "self_device_us") for some in (rows, without_spans, on_device)]
    assert not any(reported == approx(ms, rel=SAME) for ms in twice), mistake(
        "kernels_counted_twice", reported_ms=reported, gpu_ms=expected_ms
    )
    nested = [total_ms(some, "device_us") for some in (operators(rows), on_host(rows), without_spans, rows)]
    assert not any(reported == approx(ms, rel=SAME) for ms in nested), mistake(
        "totals_added_up", reported_ms=reported, gpu_ms=expected_ms
    )
    assert reported == approx(expected_ms, rel=0.02), _(
        "You report {reported:.1f} ms; the kernels and copies took {expected_ms:.1f} ms in "
        "all. Add up the self time on the device, of the operators or of the kernels.",
        reported=reported,
        expected_ms=expected_ms,
    )


@pytest.mark.points(1)
def test_waiting_time(answers, rows):
    """waiting_ms: the CPU's time in calls that wait for the GPU."""
    reported = number(answers, "waiting_ms")
    waiting_ms = total_ms([row for row in rows if row["key"] in WAITS], "self_cpu_us")
    if reported == approx(waiting_ms, rel=0.02, abs=NEARLY_MS):
        return
    check_unit("waiting_ms", reported, waiting_ms)
    reads = [[row for row in rows if row["key"] in names] for names in (READS, READS[:1], READS[1:])]
    assert not any(reported == approx(total_ms(some, "self_cpu_us"), rel=SAME) for some in reads), mistake(
        "wait_looked_for_in_item", reported_ms=reported, waiting_ms=waiting_ms
    )
    assert reported == approx(waiting_ms, rel=0.02, abs=NEARLY_MS), _(
        "You report {reported:.1f} ms; the CPU waited for {waiting_ms:.1f} ms. Which calls "
        "into CUDA do nothing but wait? Add up their self CPU time.",
        reported=reported,
        waiting_ms=waiting_ms,
    )


@pytest.mark.points(1)
def test_busiest_operator_of_the_cpu(answers, rows):
    """cpu_operator: the one with the most CPU time of its own, waiting aside."""
    answer = text(answers, "cpu_operator")
    expected = max(operators(rows), key=lambda row: row["self_cpu_us"])
    if answer == expected["key"]:
        return
    row = next((row for row in on_host(rows) if row["key"] == answer), None)
    assert row is not None, _("{answer} isn't an operator (aten::...) of the profile.", answer=answer)
    self_ms, total = row["self_cpu_us"] / 1000, row["cpu_us"] / 1000
    assert answer not in (*WAITS, *READS), mistake(
        "wait_taken_for_work",
        answer=answer,
        total_ms=total,
        expected=expected["key"],
        expected_ms=expected["self_cpu_us"] / 1000,
    )
    assert answer == expected["key"], _(
        "{answer} spent {self_ms:.2f} ms of CPU time itself; among the operators "
        "(aten::...), {key} spent {self_cpu_us:.2f} ms.",
        answer=answer,
        self_ms=self_ms,
        key=expected["key"],
        self_cpu_us=expected["self_cpu_us"] / 1000,
    )


@pytest.mark.points(1)
def test_costliest_region_of_the_gpu(answers, rows):
    """gpu_region: the label whose kernels took longest, all operators inside it included."""
    answer = text(answers, "gpu_region")
    assert answer in REGIONS, _("{answer} isn't one of the labels {list}.", answer=answer, list=", ".join(REGIONS))
    on_top = {
        column: max((region(rows, name) for name in REGIONS), key=lambda row: row[column])["key"]
        for column in ("device_us", "cpu_us")
    }
    expected = on_top["device_us"]
    values = {
        "answer": answer,
        "gpu_ms": region(rows, answer)["device_us"] / 1000,
        "cpu_ms": region(rows, answer)["cpu_us"] / 1000,
        "expected": expected,
        "expected_ms": region(rows, expected)["device_us"] / 1000,
    }
    if answer == expected:
        return
    assert answer != on_top["cpu_us"], mistake("region_by_cpu_time", **values)
    del values["cpu_ms"]
    assert answer == expected, mistake("self_for_total", **values)
