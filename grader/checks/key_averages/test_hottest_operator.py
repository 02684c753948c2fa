"""hottest_operator: the operator with the largest GPU time of its own; every other measure puts another one on top."""

from __future__ import annotations

import pytest

from grader.api import Seen, mistake, named, workload
from lab.language import _

# Measures that put another operator on top than its own GPU time does, and the mistake that each one is.
OTHER_MEASURES = {
    "total_for_self": lambda row: row["device_us"],
    "average_for_sum": lambda row: row["self_device_us"] / row["count"],
    "cpu_time_for_gpu_time": lambda row: row["cpu_us"],
}
# What PyTorch says of the names that rows had before they were those of any device.
KNOWN_ERRORS = {
    "has no attribute 'self_cuda_time_total'": "attribute_of_old_tutorials",
    "has no attribute 'cuda_time_total'": "attribute_of_old_tutorials",
}
NEARLY = 0.9  # two profiles of the same forward pass differ a little on the CPU
Rows = list[dict]


@pytest.fixture(scope="module")
def profiles(submission) -> list[tuple[Rows, Seen]]:
    """Two profiles in which different operators are the hottest, each with the rows that it has."""
    first = second = (rows_of(submission, submission.seed), submission.seed)
    for seed in range(submission.seed + 1, submission.seed + 20):
        second = rows_of(submission, seed), seed
        if hottest(second[0])["key"] != hottest(first[0])["key"]:
            break
    return [
        (rows, submission.call("hottest_operator", workload("profiled_model", seed=seed), known_errors=KNOWN_ERRORS))
        for rows, seed in (first, second)
    ]


def rows_of(submission, seed: int) -> Rows:
    """The rows of such a profile, made in a process without the submission."""
    return submission.expected(workload("profiled_model", seed=seed))["$profile"]["rows"]


def operators(rows: Rows) -> Rows:
    return [row for row in rows if row["key"].startswith("aten::") and not row["is_kernel"]]


def hottest(rows: Rows) -> dict:
    return max(operators(rows), key=lambda row: row["self_device_us"])


def name_of(seen: Seen) -> str:
    assert type(seen.value) is str, _(
        'You returned {value}. Return the operator\'s name, as in "aten::add".', value=named(seen.value)
    )
    return seen.value


def check_is_the_hottest(rows: Rows, seen: Seen) -> None:
    answer, expected = name_of(seen), hottest(rows)
    if answer == expected["key"]:
        return
    kernels = [row["key"] for row in rows if row["is_kernel"]]
    assert answer not in kernels, mistake("kernel_for_operator", answer=answer)
    row = next((row for row in rows if row["key"] == answer), None)
    assert row is not None, _("No row of the profile is called {answer}.", answer=answer)
    values = {
        "answer": answer,
        "expected": expected["key"],
        "self_ms": row["self_device_us"] / 1000,
        "total_ms": row["device_us"] / 1000,
        "expected_ms": expected["self_device_us"] / 1000,
    }
    for name, measure in OTHER_MEASURES.items():
        if row["key"].startswith("aten::"):
            assert measure(row) < NEARLY * max(map(measure, operators(rows))), mistake(name, **values)
    most_cpu_us = max(row["self_cpu_us"] for row in operators(rows))
    assert row["self_cpu_us"] < NEARLY * most_cpu_us, mistake("cpu_time_for_gpu_time", **values)
    assert answer == expected["key"], _(
        "{answer} spent {self_ms:.1f} ms itself on the GPU; {key} spent {expected_ms:.1f} ms.",
        answer=answer,
        self_ms=values["self_ms"],
        key=expected["key"],
        expected_ms=values["expected_ms"],
    )


@pytest.mark.points(1)
def test_names_an_operator(profiles):
    """The answer is an operator of the profile."""
    for rows, seen in profiles:
        answer = name_of(seen)
        kernels = [row["key"] for row in rows if row["is_kernel"]]
        assert answer not in kernels, mistake("kernel_for_operator", answer=answer)
        assert answer in [row["key"] for row in operators(rows)], _(
            "{answer} isn't an operator (aten::...) of the profile.", answer=answer
        )


@pytest.mark.points(1)
def test_names_the_hottest_operator(profiles):
    """It is the operator that spent the most GPU time itself."""
    check_is_the_hottest(*profiles[0])


@pytest.mark.points(1)
def test_names_the_hottest_operator_of_another_profile(profiles):
    """It is so in another profile too, where another operator is the hottest."""
    check_is_the_hottest(*profiles[1])
