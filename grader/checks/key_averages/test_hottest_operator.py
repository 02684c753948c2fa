"""hottest_operator: the operator with the largest GPU time of its own; every other measure puts another one on top."""

from __future__ import annotations

import pytest

from grader.api import Seen, mistake, workload

# Measures that put another operator on top than its own GPU time does, and the mistake that each one is.
OTHER_MEASURES = {
    "total_for_self": lambda row: row["device_us"],
    "average_for_sum": lambda row: row["self_device_us"] / row["count"],
    "cpu_time_for_gpu_time": lambda row: row["cpu_us"],
}


def call(submission, seed: int) -> Seen:
    profiled = workload("profiled_model", seed=seed)
    return submission.call("hottest_operator", profiled, then=profiled)


@pytest.fixture(scope="module")
def profiles(submission) -> list[Seen]:
    """Two profiles in which different operators are the hottest."""
    first = call(submission, submission.seed)
    for step in range(1, 20):
        second = call(submission, submission.seed + step)
        if hottest(second)["key"] != hottest(first)["key"]:
            break
    return [first, second]


def operators(seen: Seen) -> list[dict]:
    return [row for row in seen.then["$profile"]["rows"] if row["key"].startswith("aten::") and not row["is_kernel"]]


def hottest(seen: Seen) -> dict:
    return max(operators(seen), key=lambda row: row["self_device_us"])


def name_of(seen: Seen) -> str:
    assert type(seen.value) is str, 'Return the operator\'s name, as in "aten::add".'
    return seen.value


def check_is_the_hottest(seen: Seen) -> None:
    answer, expected, rows = name_of(seen), hottest(seen), seen.then["$profile"]["rows"]
    if answer == expected["key"]:
        return
    kernels = [row["key"] for row in rows if row["is_kernel"]]
    assert answer not in kernels, mistake("kernel_for_operator", answer=answer)
    named = next((row for row in rows if row["key"] == answer), None)
    assert named is not None, f"No row of the profile is called {answer}."
    values = {
        "answer": answer,
        "expected": expected["key"],
        "self_ms": named["self_device_us"] / 1000,
        "total_ms": named["device_us"] / 1000,
        "expected_ms": expected["self_device_us"] / 1000,
    }
    for name, measure in OTHER_MEASURES.items():
        if named["key"].startswith("aten::"):
            assert measure(named) < max(map(measure, operators(seen))), mistake(name, **values)
    most_cpu_us = max(row["self_cpu_us"] for row in operators(seen))
    assert named["self_cpu_us"] < most_cpu_us, mistake("cpu_time_for_gpu_time", **values)
    assert answer == expected["key"], (
        f"{answer} spent {values['self_ms']:.1f} ms itself on the GPU; {expected['key']} spent "
        f"{values['expected_ms']:.1f} ms."
    )


@pytest.mark.points(1)
def test_names_an_operator(profiles):
    """The answer is an operator of the profile."""
    for seen in profiles:
        answer = name_of(seen)
        kernels = [row["key"] for row in seen.then["$profile"]["rows"] if row["is_kernel"]]
        assert answer not in kernels, mistake("kernel_for_operator", answer=answer)
        assert answer in [row["key"] for row in operators(seen)], (
            f"{answer} isn't an operator (aten::...) of the profile."
        )


@pytest.mark.points(1)
def test_names_the_hottest_operator(profiles):
    """It is the operator that spent the most GPU time itself."""
    check_is_the_hottest(profiles[0])


@pytest.mark.points(1)
def test_names_the_hottest_operator_of_another_profile(profiles):
    """It is so in another profile too, where another operator is the hottest."""
    check_is_the_hottest(profiles[1])
