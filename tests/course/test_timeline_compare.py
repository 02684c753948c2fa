"""Two runs over one another, the tables of memory and of the profiler, and the verdict, driven as a learner does."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from course.app.app import CourseApp
from course.app.screens.timeline import TimelineScreen
from course.app.widgets.job import StatusLine
from course.app.widgets.run_tables import RunTables
from course.app.widgets.timeline import Timeline
from tests.course.conftest import buttons, click, footer
from tests.course.test_app import press, until
from tests.course.test_import_hygiene import loaded_by
from tests.course.test_run_diagnosis import loop
from tests.course.test_run_view import event
from tests.course.test_timeline import SMALL, WIDE, drawn, rows

MIB = 2**20
GPU = SimpleNamespace(kind="simulated", name="Test Card")
ALIVE = event(
    "alive_at_peak",
    50,
    peak_bytes=30 * MIB,
    rows=[
        {
            "role": "activation",
            "op": "aten::mm",
            "label": "forward",
            "shape": [512, 512],
            "dtype": "float32",
            "count": 2,
        }
        | {"bytes": 20 * MIB},
        {"role": "parameter", "op": "aten::_to_copy", "label": "", "shape": [64], "dtype": "float16", "count": 1}
        | {"bytes": 10 * MIB},
        {"role": "odd"},
    ],
)
AVERAGES = event(
    "key_averages",
    60,
    rows=[
        {"name": "aten::mm", "calls": 4, "self_cpu_us": 90.0, "cpu_us": 100.0, "self_device_us": 2_000.0}
        | {"device_us": 2_000.0, "self_cpu_bytes": 0, "cpu_bytes": 0, "self_device_bytes": MIB, "device_bytes": MIB},
        {"name": "aten::linear", "calls": 4, "self_cpu_us": 200.0, "cpu_us": 300.0, "self_device_us": 0.0}
        | {"device_us": 2_000.0, "self_cpu_bytes": 0, "cpu_bytes": 0, "self_device_bytes": 0, "device_bytes": MIB},
        {"name": "no calls"},
    ],
)
SLOW, FAST = loop(30, 10, allocated_bytes=64 * MIB), loop(5, 10, allocated_bytes=32 * MIB)


async def show(pilot: Pilot[None], app: CourseApp, *runs: list[dict[str, Any]], kind: Any = "run") -> Timeline:
    """The timeline of the last of these runs of one file."""
    for events in runs:
        app.keep_run(kind, Path("train.py"), GPU, events)
    app.action_timeline()
    await until(pilot, lambda: isinstance(app.screen, TimelineScreen) and app.screen.is_mounted)
    await pilot.pause()
    return app.screen.query_one(Timeline)


def title(app: CourseApp) -> str:
    return app.screen.query_one("#timeline-title", StatusLine).text.plain


def note(app: CourseApp) -> str:
    return str(app.screen.query_one("#note", Static).content)


def table(app: CourseApp) -> list[list[str]]:
    widget = app.screen.query_one(DataTable)
    return [[str(cell) for cell in widget.get_row_at(number)] for number in range(widget.row_count)]


# Two runs


@pytest.mark.parametrize("size", [(60, 16), SMALL, WIDE, (200, 60)])
async def test_o_lays_the_run_before_over_this_one_on_the_same_scale(app: CourseApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        timeline = await show(pilot, app, SLOW, FAST)
        await press(pilot, "o")
        lines = drawn(timeline)
        (before,) = (number for number, line in enumerate(lines) if line.startswith("Before"))
        (after,) = (number for number, line in enumerate(lines) if line.startswith("After"))
        assert before < after
        assert timeline.window[1] == pytest.approx(timeline.before.window_s)  # type: ignore[union-attr]
        ended = int(timeline.run.window_s / timeline.window[1] * timeline.chart_width) + 2  # type: ignore[union-attr]
        assert lines[after][6 + ended :].strip() == ""
        assert lines[before][6 + ended :].strip() != ""
        assert title(app) == "It helped: a step takes 15.1 ms instead of 40.1 ms, 2.66 times as fast."
        assert all(len(line) == timeline.size.width for line in lines)
        assert table(app)[0][:4] == ["Step", "40.10 ms", "15.10 ms", "62% less"]
        assert app.screen.query_one(DataTable).region.bottom <= size[1] - 1
        assert size[0] < SMALL[0] or not footer(app).left_out
        await press(pilot, "n", "plus", "right", "end", "0", "s", "c")
        await press(pilot, "o")
        assert timeline.before is None
        assert title(app).startswith("GPU idle 30% of the steps, waiting for data: ")


async def test_the_cursor_says_what_both_runs_were_doing(app: CourseApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        timeline = await show(pilot, app, SLOW, FAST)
        await press(pilot, "o")
        timeline.point_at(0.010)
        await pilot.pause()
        said = str(app.screen.query_one("#at-cursor", Static).content)
        assert "Before: loads data; GPU: idle" in said
        assert "After: synchronize; GPU: gemm" in said


async def test_a_button_lays_over_and_is_only_there_if_there_is_another_run(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        timeline = await show(pilot, app, SLOW)
        assert "Over o" not in buttons(app)
        await press(pilot, "o", "6", "left_square_bracket")
        assert timeline.before is None
        await press(pilot, "escape")
        timeline = await show(pilot, app, FAST)
        assert "Over o" in buttons(app)
        await click(pilot, app, "lay-over")
        await pilot.pause()
        assert timeline.before is not None


async def test_a_pinned_run_stays_the_one_before_and_brackets_choose_another(app: CourseApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await show(pilot, app, SLOW)
        await press(pilot, "x")
        assert "pinned" in app.screen.query_one("#timeline-facts", StatusLine).text.plain
        await press(pilot, "escape")
        await show(pilot, app, FAST, FAST)
        await press(pilot, "o")
        assert note(app) == "Before: train.py, run 1"
        await press(pilot, "right_square_bracket")
        assert note(app) == "Before: train.py, run 2"
        assert title(app).startswith("It made no difference")
        await press(pilot, "left_square_bracket")
        assert note(app) == "Before: train.py, run 1"


@pytest.mark.parametrize("before", ["run", "check"])
async def test_what_a_check_did_is_never_said_to_be_better_or_worse(app: CourseApp, before: Any) -> None:
    async with app.run_test(size=WIDE) as pilot:
        app.keep_run(before, Path("train.py"), GPU, SLOW)
        await show(pilot, app, FAST, kind="check")
        await press(pilot, "o")
        assert title(app) == "A check draws its own inputs: what differs may be theirs."
        assert app.screen._overlay is not None  # type: ignore[attr-defined]
        assert {row.better for row in app.screen._overlay.rows} == {None}  # type: ignore[attr-defined]


# The tables


async def test_the_memory_says_what_was_alive_at_the_peak(app: CourseApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await show(pilot, app, [*SLOW, ALIVE])
        await press(pilot, "4")
        assert note(app) == "At the peak of 30.0 MiB: activations 67%, parameters 33%"
        assert table(app) == [
            ["activations", "mm in forward", "512 x 512 float32", "2", "20.0 MiB", "66.7%"],
            ["parameters", "_to_copy", "64 float16", "1", "10.0 MiB", "33.3%"],
        ]


async def test_of_a_real_gpu_it_says_how_else_to_find_out(app: CourseApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        app.keep_run(
            "run", Path("train.py"), SimpleNamespace(kind="real", name="Big"), [event("clock_read", 5, call="t")]
        )
        app.action_timeline()
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen) and app.screen.is_mounted)
        assert "torch.profiler only" in title(app)
        await press(pilot, "4")
        assert "_record_memory_history" in note(app)


async def test_the_profilers_table_has_pytorchs_columns_and_sorts_by_any_of_them(app: CourseApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await show(pilot, app, [*SLOW, AVERAGES])
        await press(pilot, "3")
        assert "last profiler session" in note(app)
        labels = [str(column.label) for column in app.screen.query_one(DataTable).columns.values()]
        expected = ["Name", "Self CPU", "CPU total", "Self CUDA ▾", "CUDA total", "# of Calls"]
        assert labels == [*expected, "CPU Mem", "Self CPU Mem", "CUDA Mem", "Self CUDA Mem"]
        assert table(app)[0] == [
            "aten::mm", "0.090 ms", "0.100 ms", "2.000 ms", "2.000 ms", "4", "0 B", "0 B", "1.00 MiB", "1.00 MiB"
        ]  # fmt: skip
        app.screen.query_one(RunTables).sort_by(1)
        assert rows(app) == ["aten::linear", "aten::mm"]
        app.screen.query_one(RunTables).sort_by(0)
        assert rows(app) == ["aten::linear", "aten::mm"]


async def test_without_a_profiler_the_operators_say_what_is_known_of_them(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await show(pilot, app, SLOW)
        await press(pilot, "3")
        assert "No profiler ran" in note(app)
        assert table(app) == [["aten::gemm", "60.00 ms", "60.00 ms", "6"]]


@pytest.mark.parametrize("number", ["1", "2", "3", "4", "5"])
async def test_no_table_is_wider_than_a_small_terminal(app: CourseApp, number: str) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await show(pilot, app, [*SLOW, ALIVE])
        await press(pilot, number)
        assert app.screen.query_one(DataTable).virtual_size.width <= SMALL[0]
        assert app.screen.query_one("#report").virtual_size.width <= SMALL[0]


async def test_the_whole_verdict_can_be_read_in_a_small_terminal(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await show(pilot, app, SLOW)
        await press(pilot, "5")
        report = app.screen.query_one("#report")
        text = str(report.query_one(Static).content)
        assert max(map(len, text.splitlines())) <= 77
        for words in ("input, 71% of the time", "What shows it", "What to try", "idle"):
            assert words in text
        await press(pilot, "tab", "end")
        await until(pilot, lambda: report.scroll_y == report.max_scroll_y > 0)


@pytest.mark.parametrize("theme", ["profile-first-light", "textual-dark", "ansi-dark", "ansi-light"])
async def test_it_is_drawn_in_every_theme(app: CourseApp, theme: str) -> None:
    async with app.run_test(size=SMALL) as pilot:
        app.theme = theme
        timeline = await show(pilot, app, SLOW, FAST)
        await press(pilot, "o", "5", "6", "4")
        assert any(line.startswith("Before") for line in drawn(timeline))


async def test_a_long_run_is_read_beside_the_app(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        app.keep_run("run", Path("train.py"), GPU, loop(1, 1, steps=1_000))
        await app.workers.wait_for_complete([each for each in app.workers if each.group == "reading"])
        assert app.seen_run is not None
        assert not app.seen_run._events
        await pilot.pause()


# What it costs


def test_the_timeline_of_a_run_loads_neither_torch_nor_numpy() -> None:
    loaded = loaded_by(
        "import course.app.screens.timeline, course.run_overlay, course.run_diagnosis, course.app.screens.open_trace"
    )
    assert "textual" in loaded
    assert not loaded & {"torch", "numpy", "pytest"}


def test_events_with_odd_rows_are_left_out_and_do_no_harm() -> None:
    from course.run_tables import averages_table, memory_table
    from course.run_view import view

    for rows_of in (None, "many", [None, 3, {}], [{"bytes": float("nan"), "count": "x", "calls": True}]):
        run = view([*SLOW, event("alive_at_peak", 1, rows=rows_of), event("key_averages", 1, rows=rows_of)])
        assert memory_table(run).rows == []
        assert json.dumps(averages_table(run).rows)


# Where there is little room


MANY_ROLES = event(
    "alive_at_peak",
    50,
    peak_bytes=60 * MIB,
    rows=[
        {"role": role, "op": "aten::native_batch_norm_backward", "label": "the second block", "dtype": "float32"}
        | {"shape": [256, 256, 64], "count": 12, "bytes": size * MIB}
        for role, size in (("parameter", 16), ("gradient", 15), ("optimizer_state", 14), ("activation", 13))
    ],
)


def cut(app: CourseApp) -> list[str]:
    """What is drawn above the table and in it that ends in an ellipsis."""
    strips = app.screen._compositor.render_strips()
    return [line for strip in strips if (line := strip.text.rstrip().rstrip("▁▂▃▄▅▆▇█▎ ")).endswith("…")]


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_nothing_that_a_page_says_is_cut(app: CourseApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        timeline = await show(pilot, app, [*SLOW, MANY_ROLES])
        for page in "12345":
            await press(pilot, page)
            assert cut(app) == [], page
        await press(pilot, "plus", "plus", "right")
        assert timeline.window[0] >= 0
        assert cut(app) == []


async def test_each_column_of_the_memory_is_seen_with_its_unit(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await show(pilot, app, [*SLOW, MANY_ROLES])
        await press(pilot, "4")
        drawn_rows = [strip.text for strip in app.screen._compositor.render_strips() if "256 x" in strip.text]
        assert drawn_rows
        for line in drawn_rows:
            assert "MiB" in line
            assert "%" in line


@pytest.mark.parametrize("size", [(60, 16), (60, 22), (80, 18), SMALL])
async def test_each_page_shows_rows_in_the_smallest_window_too(app: CourseApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await show(pilot, app, [*SLOW, MANY_ROLES, AVERAGES])
        for page in "1234":
            await press(pilot, page)
            table_shown = app.screen.query_one(DataTable)
            assert table_shown.scrollable_content_region.height >= 3, page  # its titles and two rows
        await press(pilot, "5")
        assert app.screen.query_one("#report").region.intersection(app.screen.region).height >= 3


async def test_it_says_by_which_clock_a_time_is(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await show(pilot, app, SLOW)
        assert "of simulated time" in app.screen.query_one("#timeline-facts", StatusLine).text.plain
