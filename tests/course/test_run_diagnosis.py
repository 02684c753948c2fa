"""The verdict on a run, and what two runs beside each other say, from given events and from random ones."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.run_diagnosis import diagnose_run
from course.run_overlay import overlay
from course.run_view import view
from lab.trace.verdict import BOTTLENECKS, Diagnosis
from tests.course.test_run_view import MS, OTHERS, event, launch, launches, waits

MIB = 2**20


def phase(kind: str, at_ms: float, lasted_ms: float) -> dict[str, Any]:
    return event("host_phase", at_ms, kind=kind, lasted_s=lasted_ms * MS)


def loop(loads_ms: float, computes_ms: float, steps: int = 6, **memory: int) -> list[dict[str, Any]]:
    """A training loop: loading data, then a kernel that is launched at once, then the optimizer."""
    events, now_ms = [], 0.0
    for _ in range(steps):
        now_ms += loads_ms
        events.append(phase("data", now_ms, loads_ms))
        events.append(launch(now_ms + 0.01, now_ms + 0.01, now_ms + 0.01 + computes_ms, **memory))
        events.append(phase("optimizer", now_ms + 0.1, 0.05))
        now_ms += 0.1
        events.append(waits(now_ms + computes_ms, computes_ms))
        now_ms += computes_ms
    return events


def diagnosed(events: list[dict[str, Any]], **options: Any) -> Diagnosis:
    return diagnose_run(view(events), "train.py", **options)


def test_a_loop_that_waits_for_its_data_is_input_bound_and_says_what_that_costs() -> None:
    found = diagnosed(loop(30, 10))
    assert found.verdict.bottleneck == "input"
    assert found.verdict.share == pytest.approx(150 / 210.4, abs=0.01)
    assert found.steps.count == 5
    assert found.step_us == pytest.approx(40_100, rel=0.01)
    assert "the next batch wasn't there yet" in found.verdict.summary


def test_a_gpu_that_computes_all_the_time_is_compute_bound() -> None:
    events = [launch(n * 0.1, 10 * n + 1, 10 * n + 11) for n in range(5)]
    assert diagnosed([*events, waits(51, 50)]).verdict.bottleneck == "compute"


def test_a_read_in_every_step_is_the_hosts_wait() -> None:
    events = []
    for n in range(5):
        events += [launch(20 * n, 20 * n, 20 * n + 10), waits(20 * n + 10, 9.9, "Tensor.item")]
        events += [event("host_read", 20 * n + 10.0001, call="Tensor.item")]
    found = diagnosed(events)
    assert found.verdict.bottleneck == "sync"
    assert "(Tensor.item)" in found.verdict.summary


def test_many_short_kernels_with_calls_between_are_launch_bound_and_long_python_is_python() -> None:
    launching = [launch(n * 0.1, n * 0.1, n * 0.1 + 0.02) for n in range(200)]
    assert diagnosed(launching).verdict.bottleneck == "launch"
    python = [launch(n * 10, n * 10, n * 10 + 2) for n in range(20)]
    assert diagnosed(python).verdict.bottleneck == "python"


def test_python_that_takes_long_within_forward_is_python_too() -> None:
    events = []
    for n in range(6):
        events += [launch(20 * n + 10, 20 * n + 10, 20 * n + 12), phase("forward", 20 * n + 10.01, 10)]
    assert diagnosed(events).verdict.bottleneck == "python"


def test_copies_that_nothing_hides_are_copies() -> None:
    events = []
    for n in range(6):
        events += [launch(20 * n, 20 * n, 20 * n + 14, kind="memcpy", name="Memcpy HtoD")]
        events += [launch(20 * n + 14, 20 * n + 14, 20 * n + 20)]
    found = diagnosed(events)
    assert (found.verdict.bottleneck, round(found.verdict.share, 2)) == ("copies", 0.7)


def test_of_a_real_gpu_and_of_an_idle_one_there_is_no_verdict_but_a_reason() -> None:
    real = diagnosed([waits(9, 8)], real=True)
    assert real.verdict.bottleneck == "unknown"
    assert "torch.profiler only" in real.verdict.summary
    assert "Open a trace" in real.record_better[0]
    assert "nothing to do" in diagnosed([event("clock_read", 5, call="time.perf_counter")]).verdict.summary


def test_so_short_a_run_gets_no_verdict() -> None:
    assert diagnosed([launch(1, 1, 1.2)]).verdict.bottleneck == "unknown"


def test_what_comes_before_the_first_and_after_the_last_kernel_is_not_blamed_on_anything() -> None:
    events = [launch(500, 500, 510), launch(500.1, 510, 520), waits(520, 19.8), event("clock_read", 900, call="t")]
    assert diagnosed(events).window_us == pytest.approx(20_000)


def test_a_run_that_was_cut_off_says_so() -> None:
    assert "only its begin" in diagnosed([*loop(30, 10), event("cut_off", 999)]).warnings[0]


# Two runs


def laid_over(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Any:
    views = view(before), view(after)
    return overlay(*views, *(diagnose_run(each, "train.py") for each in views))


def test_a_change_that_helped_is_told_with_what_became_of_the_time() -> None:
    found = laid_over(loop(30, 10, allocated_bytes=64 * MIB), loop(5, 10, allocated_bytes=32 * MIB))
    assert found.helped is True
    assert found.summary.startswith("It helped: a step takes 15.1 ms instead of 40.1 ms, 2.66 times as fast.")
    rows = {row.what: row for row in found.rows}
    assert (rows["Step"].change, rows["Step"].better) == ("62% less", True)
    assert (rows["GPU busy"].before, rows["GPU busy"].after) == ("28%", "70%")
    assert rows["Idle per step: waiting for data"].better is True
    assert (rows["Peak memory"].before, rows["Peak memory"].after) == ("64.0 MiB", "32.0 MiB")


def test_a_change_that_made_it_slower_did_not_help_and_none_made_no_difference() -> None:
    assert laid_over(loop(5, 10), loop(30, 10)).helped is False
    same = laid_over(loop(5, 10), loop(5, 10))
    assert same.helped is None
    assert {row.change for row in same.rows} == {"same"}


def test_without_steps_the_gpus_part_is_compared() -> None:
    slow = [launch(20 * n, 20 * n, 20 * n + 10) for n in range(5)]
    fast = [launch(12 * n, 12 * n, 12 * n + 10) for n in range(5)]
    found = laid_over(slow, fast)
    assert found.helped is True
    assert "the GPU's part, from its first kernel to its last, takes 58 ms instead of 90 ms" in found.summary
    assert found.rows[0].what == "GPU's part"


def test_where_one_run_has_no_kernels_it_does_not_guess() -> None:
    found = laid_over([waits(9, 8)], loop(5, 10))
    assert found.helped is None
    assert "can't tell" in found.summary


def test_runs_that_are_too_short_for_a_verdict_are_too_short_to_be_compared() -> None:
    found = laid_over([launch(1, 1, 1.2)], [launch(1, 1, 1.4)])
    assert found.helped is None
    assert found.summary.startswith("I can't tell whether it helped: the GPU's work spans only 200")
    assert found.rows[0].change == "2 times as much"


def test_what_two_runs_of_the_same_program_differ_by_is_no_difference() -> None:
    assert laid_over(loop(5, 10), loop(5.5, 10)).helped is None
    assert laid_over(loop(5, 10), loop(6, 10)).helped is False


# Whatever happens


RUNS = st.lists(st.one_of(launches(), OTHERS), max_size=40)


def times(found: Diagnosis) -> list[float]:
    return [
        us
        for split in found.devices
        for us in (split.compute_us, split.communication_us, split.copies_us, *split.idle.values())
    ]


@given(RUNS)
def test_the_parts_of_a_run_sum_to_its_window_and_none_is_negative(events: list[dict[str, Any]]) -> None:
    found = diagnosed(events)
    assert all(us >= 0 for us in times(found))
    if found.devices:
        assert math.isclose(sum(times(found)), found.window_us, rel_tol=1e-6, abs_tol=0.5)
        assert set(found.devices[0].idle) <= set(BOTTLENECKS)
    assert 0 <= found.verdict.share <= 1 + 1e-9


def moved(each: dict[str, Any], shift_s: float) -> dict[str, Any]:
    """The same event later; whole microseconds, so that rounding makes nothing equal that wasn't."""
    times = ("at_s", "begin_s", "end_s")
    return {name: round(value, 6) + shift_s if name in times else value for name, value in each.items()}


@given(RUNS, st.integers(0, 50))
def test_a_shift_in_time_changes_nothing(events: list[dict[str, Any]], shift_s: int) -> None:
    # A wait or a phase can't begin before the run did.
    kept = [each for each in events if each["what"] not in ("wait", "host_phase")]
    first, second = (diagnosed([moved(each, by_s) for each in kept]) for by_s in (0, shift_s))
    assert second.window_us == pytest.approx(first.window_us, abs=0.1)
    for one, other in zip(times(first), times(second), strict=False):
        assert one == pytest.approx(other, abs=0.1)


@given(RUNS, st.integers(0, 2**32))
def test_the_order_of_the_events_is_irrelevant(events: list[dict[str, Any]], seed: int) -> None:
    once = [each for number, each in enumerate(events) if each["at_s"] not in {e["at_s"] for e in events[:number]}]
    shuffled = random.Random(seed).sample(once, len(once))
    assert diagnosed(once) == diagnosed(shuffled)


@given(RUNS, RUNS)
def test_of_any_two_runs_something_can_be_said(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    there, back = laid_over(before, after), laid_over(after, before)
    assert there.summary
    assert {there.helped, back.helped} in ({None}, {True, False}, {None, True}, {None, False})
    assert all(row.before and row.after and row.change for row in there.rows)
