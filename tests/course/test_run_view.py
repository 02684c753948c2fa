"""The lanes, gaps and tables of a run, from given events and from random ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.lanes import HOST_KINDS, WAITED_FOR, KindSums, Lane, RunView, Span, disjoint, most_allocated, over
from course.run_tables import idle_rows, in_ms, kernel_rows, op_rows
from course.run_view import view

MS = 1e-3


def event(what: str, at_ms: float, **data: Any) -> dict[str, Any]:
    return {"n": 0, "what": what, "at_s": at_ms * MS, **data}


def launch(at_ms: float, begin_ms: float, end_ms: float, name: str = "gemm", **data: Any) -> dict[str, Any]:
    given = {"kind": "kernel", "name": name, "op": f"aten::{name}", "stream": 7, **data}
    return event("launch", at_ms, begin_s=begin_ms * MS, end_s=end_ms * MS, **given)


def waits(at_ms: float, waited_ms: float, call: str = "torch.cuda.synchronize") -> dict[str, Any]:
    return event("wait", at_ms, call=call, waited_s=waited_ms * MS)


def lane(run: RunView) -> list[tuple[str, float, float]]:
    return [(span.kind, round(span.begin_s / MS, 3), round(span.end_s / MS, 3)) for span in run.host]


def gaps(run: RunView) -> list[tuple[float, float, str]]:
    return [(round(gap.begin_s / MS, 3), round(gap.end_s / MS, 3), gap.words) for gap in run.gaps]


# The host


def test_calls_close_to_one_another_are_launching_and_a_long_pause_is_other_code() -> None:
    run = view([launch(5.0, 5.0, 6.0), launch(5.1, 6.0, 7.0), launch(25.0, 25.0, 26.0)])
    assert lane(run) == [("code", 0.0, 5.0), ("launch", 5.0, 5.1), ("code", 5.1, 25.0)]


def test_a_wait_takes_the_place_of_what_would_be_there_without_it() -> None:
    run = view([launch(1.0, 1.0, 9.0), waits(9.0, 7.9)])
    assert lane(run) == [("launch", 0.0, 1.1), ("wait", 1.1, 9.0)]
    assert run.host_lane.at(5 * MS) == Span(pytest.approx(1.1 * MS), 9 * MS, "wait", "synchronize")


def test_a_wait_that_brings_a_value_is_a_read() -> None:
    read = event("host_read", 9.0, call="Tensor.item")
    run = view([launch(1.0, 1.0, 9.0), waits(9.0, 7.9, "Tensor.item"), read])
    assert [kind for kind, *_ in lane(run)] == ["launch", "read"]


def test_a_blocking_copy_holds_the_host_up_from_its_launch_to_its_end() -> None:
    copy = event("copy_to_gpu", 4.0, call="Tensor.to", bytes=1, blocking=True)
    run = view([launch(1.0, 1.0, 3.9, kind="memcpy", name="HtoD"), copy])
    assert lane(run) == [("launch", 0.0, 1.0), ("copy", 1.0, 4.0)]


def test_a_copy_that_is_not_waited_for_is_just_another_launch() -> None:
    copy = event("copy_to_gpu", 1.2, call="Tensor.to", bytes=1, blocking=False)
    run = view([launch(1.0, 1.0, 3.9, kind="memcpy", name="HtoD"), copy])
    assert lane(run) == [("launch", 0.0, 1.2)]


def test_on_a_real_gpu_there_is_only_the_hosts_lane_and_nothing_is_called_idle() -> None:
    run = view([event("clock_read", 0.5, call="time.perf_counter"), waits(9.0, 8.0)])
    assert lane(run) == [("code", 0.0, 1.0), ("wait", 1.0, 9.0)]
    assert (run.streams, run.gaps, run.busy_s) == ({}, (), 0.0)


def test_labels_clock_reads_and_profilers_are_marks() -> None:
    events = [
        event("label", 1, phase="made", name="forward"),
        event("label", 2, phase="entered", name="forward"),
        event("clock_read", 3, call="time.perf_counter"),
        event("profiler_start", 4),
    ]
    assert [mark.name for mark in view(events).marks] == ["forward", "time.perf_counter", "profiler starts"]


def test_loading_data_backward_and_the_optimizer_are_told_from_launching() -> None:
    events = [
        event("host_phase", 40, kind="data", lasted_s=38 * MS),
        launch(40.5, 40.5, 45),
        launch(41.4, 45, 50),
        event("host_phase", 42.5, kind="backward", lasted_s=0.9 * MS),
        event("host_phase", 43, kind="optimizer", lasted_s=0.5 * MS),
    ]
    assert [kind for kind, *_ in lane(view(events))] == ["code", "data", "launch", "backward", "optimizer"]
    assert gaps(view([launch(1, 1, 1.5), *events]))[1] == (1.5, 40.5, "loading data")


# The gaps


def test_each_gap_says_what_the_gpu_waited_for() -> None:
    events = [
        launch(2.0, 2.0, 3.0),
        waits(3.0, 0.9),
        launch(23.0, 23.0, 23.2),  # twenty milliseconds of Python after the wait
        launch(23.7, 23.7, 25.0),  # launched too late, but at once
        waits(30.0, 0.1),
    ]
    assert gaps(view(events)) == [
        (0.0, 2.0, "the first kernel"),
        (3.0, 23.0, "other code after synchronize"),
        (23.2, 23.7, "the next launch"),
        (25.0, 30.0, "nothing: all was done"),
    ]


def test_a_gap_names_the_call_in_which_the_host_waited_while_the_gpu_ran_dry() -> None:
    read = event("host_read", 3.01, call="Tensor.item")
    run = view([launch(1.0, 1.0, 3.0), waits(3.01, 1.9, "Tensor.item"), read, launch(13.0, 13.0, 14.0)])
    assert gaps(run)[1] == (3.0, 13.0, "other code after Tensor.item")


def test_a_kernel_that_was_launched_before_the_gap_waited_for_another_stream() -> None:
    run = view([launch(1.0, 1.0, 3.0), launch(1.1, 5.0, 6.0, stream=9)])
    assert gaps(run)[1] == (3.0, 5.0, "another stream")


def test_the_gpu_is_busy_as_long_as_one_stream_is() -> None:
    run = view([launch(0.0, 0.0, 4.0), launch(0.1, 3.0, 6.0, stream=9)])
    assert run.busy_s == pytest.approx(6 * MS)
    assert sorted(run.streams) == [7, 9]


def test_the_long_gaps_are_those_of_a_hundredth_of_the_run_or_else_the_longest() -> None:
    run = view([launch(10 * n, 10 * n + (n == 3), 10 * n + 10, name="a") for n in range(8)])
    assert [round(gap.begin_s / MS) for gap in run.long_gaps] == [30]
    run = view([launch(10 * n, 10 * n + 0.01, 10 * n + 10, name="a") for n in range(20)])
    assert len(run.long_gaps) == 10
    assert run.long_gaps == sorted(run.long_gaps)


# Memory


def test_a_column_of_the_memory_shows_the_most_that_was_allocated_in_it() -> None:
    run = view([launch(n, n, n + 1, allocated_bytes=size) for n, size in enumerate([10, 70, 30, 20, 25])])
    assert most_allocated(run.memory_sizes, 0.5 * MS, 6.5 * MS, 3) == [70, 30, 25]
    assert most_allocated(run.memory_sizes, 1.5 * MS, 1.9 * MS, 2) == [70, 70]


def test_memory_that_was_given_back_before_the_next_launch_still_counts_for_the_peak() -> None:
    run = view([launch(0, 0, 1, allocated_bytes=10), launch(2, 2, 3, peak_bytes=90, allocated_bytes=20)])
    assert run.peak == (2 * MS, 90)
    assert most_allocated(run.memory_sizes, 0.0, 6 * MS, 3) == [10, 90, 20]
    assert most_allocated(run.memory_sizes, 2 * MS, 2.5 * MS, 1) == [90]


def test_where_no_event_holds_it_there_is_no_memory() -> None:
    run = view([launch(1, 1, 2), launch(2, 2, 3, allocated_bytes="many")])
    assert (run.memory, run.peak) == ((), None)


# Tables


def test_kernels_and_operators_are_summed_by_name_with_their_share_of_the_gpus_time() -> None:
    events = [launch(1, 1, 4), launch(2, 4, 5, name="relu"), launch(3, 5, 8, op="aten::mm")]
    rows = kernel_rows(view(events))
    assert [(row.name, row.calls, round(row.total_s / MS, 6), round(row.share, 6)) for row in rows] == [
        ("gemm", 2, 6.0, 0.857143),
        ("relu", 1, 1.0, 0.142857),
    ]
    assert [(row.name, row.calls) for row in op_rows(view(events))] == [
        ("aten::gemm", 1),
        ("aten::mm", 1),
        ("aten::relu", 1),
    ]


def test_idle_time_is_summed_by_what_was_waited_for_with_its_share_of_the_run() -> None:
    run = view([launch(10, 10, 20), launch(30, 30, 35), launch(50, 50, 60)])
    found = {row.name: (row.calls, round(row.total_s / MS, 6), round(row.share, 6)) for row in idle_rows(run)}
    assert found == {"the first kernel": (1, 10.0, 0.166667), "other code": (2, 25.0, 0.416667)}


# What is drawn


def test_a_column_shows_what_takes_most_of_its_time() -> None:
    spans = [Span(0, 3, "kernel", "a"), Span(3, 4, "memcpy", "b"), Span(6, 7, "memcpy", "b")]
    assert [(kind, round(share, 6)) for kind, share in KindSums(spans).columns(0, 8, 4)] == [
        ("kernel", 1.0),
        ("kernel", 1.0),
        ("", 0.0),
        ("memcpy", 0.5),
    ]


def test_a_window_in_the_middle_shows_only_what_is_in_it() -> None:
    spans = [Span(n, n + 0.5, "kernel", str(n)) for n in range(10)]
    assert [span.name for span in Lane(spans).within(2.2, 4.1)] == ["2", "3", "4"]


@pytest.mark.parametrize(
    ("duration_s", "words"),
    [(0.0, "0.000 ms"), (12e-6, "0.012 ms"), (0.0123, "12.30 ms"), (0.123, "123.0 ms"), (1.2345, "1 234 ms")],
)
def test_times_are_told_in_milliseconds(duration_s: float, words: str) -> None:
    assert in_ms(duration_s) == words


# Whatever happens


MOMENTS = st.floats(0, 2, allow_nan=False)
NAMES = st.sampled_from(["gemm", "relu", "Memcpy HtoD"])


@st.composite
def launches(draw: st.DrawFn) -> dict[str, Any]:
    begin_s = draw(MOMENTS)
    return {
        "what": "launch",
        "at_s": draw(MOMENTS),
        "begin_s": begin_s,
        "end_s": begin_s + draw(st.floats(0, 0.5)),
        "kind": draw(st.sampled_from(["kernel", "memcpy", "memset"])),
        "name": draw(NAMES),
        "op": draw(NAMES),
        "stream": draw(st.sampled_from([7, 13, 14])),
    }


OTHERS = st.fixed_dictionaries(
    {
        "what": st.sampled_from(
            ["wait", "host_read", "copy_to_gpu", "clock_read", "label", "host_phase", "cut_off", "odd"]
        ),
        "at_s": MOMENTS,
        "call": st.sampled_from(["Tensor.item", "torch.cuda.synchronize"]),
        "waited_s": st.floats(0, 3),
        "lasted_s": st.floats(0, 3),
        "kind": st.sampled_from(list(HOST_KINDS)),
        "blocking": st.booleans(),
        "phase": st.just("entered"),
    }
)
ANYTHING = st.dictionaries(
    st.sampled_from(["what", "at_s", "begin_s", "end_s", "waited_s", "stream", "name", "kind"]),
    st.one_of(st.none(), st.text(max_size=5), st.floats(), st.integers(), st.sampled_from(["launch", "wait"])),
)
RUNS = st.lists(st.one_of(launches(), OTHERS), max_size=40)


def assert_in_order(spans: Iterable[Any], window_s: float) -> None:
    spans = list(spans)
    assert all(0 <= span.begin_s < span.end_s <= window_s for span in spans)
    assert all(before.end_s <= after.begin_s for before, after in pairwise(spans))


@given(RUNS)
def test_lanes_are_in_order_within_the_run_and_nothing_overlaps(events: list[dict[str, Any]]) -> None:
    run = view(events)
    assert_in_order(run.host, run.window_s)
    assert_in_order(run.gaps, run.window_s)
    for spans in run.streams.values():
        assert_in_order(spans, run.window_s)
    assert all(gap.waited_for in WAITED_FOR for gap in run.gaps)


@given(RUNS)
def test_busy_and_idle_time_add_up_to_the_run(events: list[dict[str, Any]]) -> None:
    run = view(events)
    if run.streams:
        assert math.isclose(run.busy_s + run.idle_s, run.window_s, rel_tol=1e-9, abs_tol=1e-9)
        assert math.isclose(sum(row.total_s for row in idle_rows(run)), run.idle_s, abs_tol=1e-9)
        assert math.isclose(sum(row.share for row in kernel_rows(run)), 1.0, abs_tol=1e-9)


@given(RUNS)
def test_the_hosts_lane_has_no_holes(events: list[dict[str, Any]]) -> None:
    host = view(events).host
    assert all(before.end_s == after.begin_s for before, after in pairwise(host))
    assert not host or host[0].begin_s == 0


@given(st.lists(ANYTHING, max_size=20))
def test_events_that_lack_what_they_should_have_are_left_out(events: list[dict[str, Any]]) -> None:
    run = view(events)
    assert_in_order(run.host, run.window_s)
    kernel_rows(run), op_rows(run), idle_rows(run)


@pytest.mark.parametrize("value", [[1], {"a": 1}, 10**400, -(10**400), math.nan, "1", None, True])
@pytest.mark.parametrize("what", ["launch", "wait", "host_phase", "label", "alive_at_peak", "key_averages"])
def test_an_event_may_hold_anything_in_any_place(what: str, value: Any) -> None:
    whole = launch(1.0, 1.0, 2.0, phase="left", lasted_s=0.1, waited_s=0.1, call="item", rows=[], allocated_bytes=1)
    for name in whole:
        run = view([whole | {"what": what, name: value}, whole | {"rows": [{name: value}, value]}])
        kernel_rows(run), op_rows(run), idle_rows(run)


@given(RUNS, st.integers(1, 50))
def test_columns_hold_all_the_time_of_a_lane(events: list[dict[str, Any]], count: int) -> None:
    run = view(events)
    for spans in [run.host, *run.streams.values()]:
        if spans:
            lane = KindSums(spans).columns(0.0, run.window_s, count)
            covered_s = sum(column.share for column in lane) * run.window_s / count
            assert math.isclose(covered_s, sum(span.duration_s for span in spans), rel_tol=1e-6, abs_tol=1e-9)


@given(st.lists(st.tuples(MOMENTS, st.floats(0.001, 1)), max_size=20))
def test_what_is_above_hides_what_is_below_and_nothing_else(found: list[tuple[float, float]]) -> None:
    above = disjoint(Span(begin_s, begin_s + duration_s, "wait", "w") for begin_s, duration_s in found)
    below = [Span(0.0, 2.0, "code", "c"), Span(2.0, 3.5, "launch", "l")]
    both = over(below, above)
    assert_in_order(both, 4.0)
    assert [span for span in both if span.kind == "wait"] == above
    hidden_s = sum(min(span.end_s, 3.5) - min(span.begin_s, 3.5) for span in above)
    assert math.isclose(sum(span.duration_s for span in both if span.kind != "wait"), 3.5 - hidden_s, abs_tol=1e-9)


class Counted(list[Span]):
    """Spans that are counted when they are looked at."""

    looks = 0

    def __getitem__(self, number: Any) -> Any:
        self.looks += 1
        return super().__getitem__(number)


def test_what_is_wide_enough_to_be_seen_is_found_without_looking_at_all_of_it() -> None:
    spans = Counted(Span(n, n + 0.5, "kernel", "short") for n in range(10_000))
    spans[5_000] = Span(5_000, 5_900, "kernel", "long")
    del spans[5_001:5_901]
    lane = Lane(spans)
    assert lane.begins
    spans.looks = 0
    assert "long" in {span.name for span in lane.wide(0, 100, 100)}
    assert spans.looks <= 3 * 101


@given(st.lists(st.tuples(MOMENTS, st.floats(0.001, 1)), max_size=20), st.integers(1, 40))
def test_whatever_is_a_column_wide_is_found(found: list[tuple[float, float]], count: int) -> None:
    spans = disjoint(Span(begin_s, begin_s + duration_s, "wait", "w") for begin_s, duration_s in found)
    column_s = 3.5 / count
    wide = list(Lane(spans).wide(0.0, column_s, count))
    assert_in_order(wide, 4.0)
    assert all(span in wide for span in spans if span.duration_s > column_s * (1 + 1e-9))


# Regions


def test_a_region_of_the_program_has_its_begin_and_its_end_and_one_inside_another_too() -> None:
    events = [
        event("label", 1, phase="entered", name="step"),
        event("label", 2, phase="entered", name="forward"),
        event("label", 5, phase="left", name="forward", lasted_s=3 * MS),
        event("label", 9, phase="left", name="step", lasted_s=8 * MS),
        event("label", 10, phase="entered", name="never left"),
    ]
    marks = [(mark.name, round(mark.at_s / MS), round(mark.until_s / MS)) for mark in view(events).marks]
    assert marks == [("step", 1, 9), ("forward", 2, 5), ("never left", 10, 0)]


def test_a_region_named_forward_is_the_forward_phase_and_others_are_none() -> None:
    forward = event("label", 5, phase="left", name="Forward", lasted_s=4 * MS)
    assert lane(view([launch(1.5, 1.5, 2), launch(4, 4, 5), forward])) == [("code", 0.0, 1.0), ("forward", 1.0, 5.0)]
    other = {**forward, "name": "my region"}
    assert "forward" not in {kind for kind, *_ in lane(view([launch(1.5, 1.5, 2), launch(4, 4, 5), other]))}


def test_calls_of_modules_are_the_forward_phase() -> None:
    events = [launch(1.5, 1.5, 2), launch(2, 2, 3), event("host_phase", 2.5, kind="forward", lasted_s=1.5 * MS)]
    assert [kind for kind, *_ in lane(view(events))] == ["code", "forward"]


def test_steps_are_told_by_the_profiler_or_else_by_the_optimizer() -> None:
    optimizer = [event("host_phase", 10 * n, kind="optimizer", lasted_s=MS) for n in range(1, 5)]
    assert [round(begin / MS) for begin, _ in view(optimizer).steps] == [10, 20, 30]
    profiler = [event("profiler_step", 10 * n + 3) for n in range(1, 5)]
    assert [round(begin / MS) for begin, _ in view([*optimizer, *profiler]).steps] == [13, 23, 33]
    assert view(optimizer[:2]).steps == ()
