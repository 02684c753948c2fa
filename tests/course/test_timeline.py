"""The timeline of a run, driven as a learner does: keys, mouse, small and large terminals, without colours."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from course.app import kept_run
from course.app.app import CourseApp
from course.app.run_words import headline
from course.app.runs import Shown
from course.app.screens.exercise import ExerciseScreen
from course.app.screens.help import HelpScreen
from course.app.screens.lesson import LessonScreen
from course.app.screens.timeline import TimelineScreen
from course.app.widgets.editor import Editor
from course.app.widgets.job import StatusLine
from course.app.widgets.timeline import Timeline
from course.app.widgets.timeline_rows import GUTTER, HOST_GLYPHS, tick_s
from course.lanes import HOST_KINDS
from course.trace_view import nothing_of_a_device
from grader.verdict import CheckResult
from lab.trace.verdict import DeviceSplit, Diagnosis, Steps, Verdict
from tests.course.conftest import EXERCISE, FakeGrader, click, footer, verdict
from tests.course.test_app import go_to, press, shown, until
from tests.course.test_run_view import event, launch, waits

SMALL, WIDE = (80, 24), (120, 40)
EVENTS = [
    event("label", 1.0, phase="entered", name="forward"),
    launch(1.0, 1.0, 21.0),
    launch(1.1, 21.0, 30.0, name="relu"),
    waits(30.0, 28.8),
    launch(80.0, 80.0, 100.0),
    waits(100.0, 19.9),
]


@pytest.fixture
def seen(app: CourseApp, fake: FakeGrader) -> CourseApp:
    """The app with a grader whose runs are seen to work, to idle for half of the time, and to work again."""
    fake.events = EVENTS
    return app


async def run_card(pilot: Pilot[None], app: CourseApp) -> None:
    await go_to(pilot, app, "perf_counter/first_card")
    await press(pilot, "f5")
    await until(pilot, lambda: app.job is None and app.seen_run is not None)


async def open_timeline(pilot: Pilot[None], app: CourseApp) -> Timeline:
    await run_card(pilot, app)
    await press(pilot, "f10")
    await until(pilot, lambda: isinstance(app.screen, TimelineScreen) and app.screen.is_mounted)
    await pilot.pause()
    return app.screen.query_one(Timeline)


def drawn(timeline: Timeline) -> list[str]:
    """The lines of the timeline as text."""
    return [timeline.render_line(y).text for y in range(timeline.size.height)]


def row(timeline: Timeline, name: str) -> str:
    return next(line for line in drawn(timeline) if line.startswith(name))[GUTTER:]


def at_cursor(app: CourseApp) -> str:
    return str(app.screen.query_one("#at-cursor", Static).content)


def rows(app: CourseApp) -> list[str]:
    table = app.screen.query_one(DataTable)
    return [str(table.get_row_at(number)[0]) for number in range(table.row_count)]


def keys_shown(app: CourseApp) -> list[str]:
    return [binding.binding.description for binding in app.screen.active_bindings.values() if binding.binding.show]


# Getting there and back


async def test_a_run_of_a_card_opens_as_a_timeline_and_escape_goes_back(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        await open_timeline(pilot, seen)
        await press(pilot, "escape")
        assert isinstance(seen.screen, LessonScreen)


async def test_a_run_of_an_exercise_opens_as_a_timeline_also_from_the_editor(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        await go_to(pilot, seen, EXERCISE)
        await press(pilot, "f5")
        await until(pilot, lambda: seen.job is None and seen.seen_run is not None)
        await press(pilot, "f3", "f10")
        assert isinstance(seen.screen, TimelineScreen)
        await press(pilot, "escape")
        assert isinstance(seen.screen, ExerciseScreen)


async def test_a_check_opens_as_a_timeline_of_its_first_run(seen: CourseApp, fake: FakeGrader) -> None:
    fake.verdict = verdict(CheckResult("Returns seconds", True, 5, 5), status="passed")
    async with seen.run_test(size=SMALL) as pilot:
        await go_to(pilot, seen, EXERCISE)
        await press(pilot, "f6")
        await until(pilot, lambda: seen.job is None and seen.seen_run is not None)
        await press(pilot, "f10")
        assert isinstance(seen.screen, TimelineScreen)
        assert "warm_up_and_repeat.py, check 1" in seen.screen.header.place.plain


async def test_in_the_editor_t_is_a_letter(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        await run_card(pilot, seen)
        await go_to(pilot, seen, EXERCISE)
        await press(pilot, "f3", "t")
        assert isinstance(seen.screen, ExerciseScreen)
        assert "t" in seen.screen.query_one(Editor).text


async def test_the_key_is_shown_once_there_is_a_run_to_see(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        await go_to(pilot, seen, "perf_counter/first_card")
        assert "Timeline" not in keys_shown(seen)
        await press(pilot, "f10", "t")
        assert isinstance(seen.screen, LessonScreen)
        await press(pilot, "f5")
        await until(pilot, lambda: seen.job is None and seen.seen_run is not None)
        assert "Timeline" in keys_shown(seen)


def kept_run_file(app: CourseApp) -> Path:
    return app.workspace.folder.parent / "last-run.json"


async def test_the_last_run_is_seen_after_a_restart_too(make_app: Callable[[], CourseApp], fake: FakeGrader) -> None:
    fake.events = EVENTS
    first = make_app()
    async with first.run_test(size=SMALL) as pilot:
        timeline = await open_timeline(pilot, first)
        before = drawn(timeline)
        await until(pilot, lambda: kept_run_file(first).is_file())
    again = make_app()
    async with again.run_test(size=SMALL) as pilot:
        await go_to(pilot, again, "perf_counter/first_card")
        assert "Timeline" in keys_shown(again)
        await press(pilot, "f10")
        await until(pilot, lambda: isinstance(again.screen, TimelineScreen) and again.screen.is_mounted)
        await pilot.pause()
        assert drawn(again.screen.query_one(Timeline)) == before
        assert "simulated" in again.screen.query_one("#timeline-facts", StatusLine).text.plain
        await press(pilot, "escape", "f10")
        assert len(again.runs) == 1


@pytest.mark.parametrize(
    "damaged",
    [
        b'{"name": 1',
        b'{"name":"a","kind":"run","key":"a","gpu":null,"events":[{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}]}",
        b" " * (kept_run.MOST_BYTES + 1),
    ],
    ids=["cut short", "deep", "large"],
)
async def test_a_kept_run_that_cannot_be_read_is_said_once(make_app: Callable[[], CourseApp], damaged: bytes) -> None:
    app = make_app()
    kept_run_file(app).parent.mkdir(parents=True, exist_ok=True)
    kept_run_file(app).write_bytes(damaged)
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await press(pilot, "f10")
        assert isinstance(app.screen, LessonScreen)
        assert any("Run it again" in each.message for each in app._notifications)
        assert "Timeline" not in keys_shown(app)


async def test_of_two_runs_the_later_one_is_kept_however_long_the_disk_takes(
    app: CourseApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, disk_is_free = kept_run.write, threading.Event()

    def write_slowly(file: Path, run: kept_run.KeptRun) -> None:
        if run.name == "first.py":
            assert disk_is_free.wait(60)
        write(file, run)

    monkeypatch.setattr(kept_run, "write", write_slowly)
    async with app.run_test(size=SMALL) as pilot:
        app.keep_run("run", Path("first.py"), None, EVENTS)
        await pilot.pause()
        app.keep_run("run", Path("second.py"), None, EVENTS)
        await pilot.pause()
        disk_is_free.set()
        await app.workers.wait_for_complete()
    kept = kept_run.read(kept_run_file(app))
    assert kept is not None
    assert kept.name == "second.py"


def test_a_run_that_takes_too_much_is_not_kept_and_no_older_one_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "last-run.json"
    small = kept_run.KeptRun("a.py", "run", "a.py", None, [{"what": "launch"}])
    kept_run.write(file, small)
    assert kept_run.read(file) == small
    kept_run.write(file, kept_run.KeptRun("a.py", "run", "a.py", None, [{"x": "y" * kept_run.MOST_BYTES}]))
    assert not file.exists()
    assert kept_run.read(file) is None


@pytest.mark.parametrize("step", ["perf_counter/first_card", EXERCISE])
async def test_the_footer_fits_with_the_key_of_the_timeline(seen: CourseApp, step: str) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        await run_card(pilot, seen)
        await go_to(pilot, seen, step)
        assert not footer(seen).left_out
        await press(pilot, "f10")
        await until(pilot, lambda: isinstance(seen.screen, TimelineScreen))
        await pilot.pause()
        assert not footer(seen).left_out


async def test_a_run_without_any_event_leaves_the_one_before(seen: CourseApp, fake: FakeGrader) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        await run_card(pilot, seen)
        before = seen.seen_run
        fake.events = []
        await press(pilot, "f5")
        await until(pilot, lambda: seen.job is None)
        assert seen.seen_run is before


async def test_f10_says_that_it_shows_an_earlier_run_where_the_last_one_left_nothing(
    seen: CourseApp, fake: FakeGrader
) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        await run_card(pilot, seen)
        events = fake.events
        fake.events = []
        await press(pilot, "f5")
        await until(pilot, lambda: seen.job is None)
        await press(pilot, "f10")
        await until(pilot, lambda: any("Nothing was recorded" in each.message for each in seen._notifications))
        seen.clear_notifications()
        await press(pilot, "escape")
        fake.events = events
        await press(pilot, "f5")
        await until(pilot, lambda: seen.job is None)
        await press(pilot, "f10")
        await until(pilot, lambda: isinstance(seen.screen, TimelineScreen))
        assert not list(seen._notifications)


async def test_help_explains_the_timeline_and_its_keys(seen: CourseApp) -> None:
    async with seen.run_test(size=WIDE) as pilot:
        await open_timeline(pilot, seen)
        await press(pilot, "f1")
        assert isinstance(seen.screen, HelpScreen)
        text = shown(seen)
        for words in ("brackets mark", "In the timeline", "To the next long gap", "Sort the table"):
            assert words in text


# What it shows


@pytest.mark.parametrize("size", [SMALL, WIDE, (200, 60)])
async def test_host_and_gpu_stand_above_one_another_with_the_gap_between(
    seen: CourseApp, size: tuple[int, int]
) -> None:
    async with seen.run_test(size=size) as pilot:
        timeline = await open_timeline(pilot, seen)
        host, gpu, idle = row(timeline, "Host"), drawn(timeline)[5][GUTTER:], row(timeline, "idle")
        for share, host_glyph, gpu_glyph in ((0.15, "▒", "█"), (0.55, "·", "·"), (0.9, "▒", "█")):
            column = int(share * timeline.chart_width)
            assert (host[column], gpu[column]) == (host_glyph, gpu_glyph)
        assert ("50.00 ms" if size == SMALL else "50.00 ms: other code after synchronize") in idle
        assert idle.rindex("└") == pytest.approx(0.3 * timeline.chart_width, abs=1)
        assert idle.rindex("┘") == pytest.approx(0.8 * timeline.chart_width, abs=1)
        assert "▾forward" in drawn(timeline)[1]
        assert all(len(line) == timeline.size.width for line in drawn(timeline))


async def test_in_a_low_terminal_the_table_has_the_room_of_the_legend(seen: CourseApp) -> None:
    async with seen.run_test(size=(60, 16)) as pilot:
        timeline = await open_timeline(pilot, seen)
        assert not any("launches" in line for line in drawn(timeline)[5:])
        table = seen.screen.query_one(DataTable)
        assert table.region.height >= 3
        assert table.region.bottom <= 15


async def test_it_says_how_busy_the_gpu_was_and_that_it_is_a_simulated_one(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        await open_timeline(pilot, seen)
        facts = seen.screen.query_one("#timeline-facts", StatusLine).text.plain
        assert facts.startswith("GPU busy 49% of 100.0 ms of simulated time")
        title = seen.screen.query_one("#timeline-title", StatusLine).text.plain
        assert title.startswith("GPU idle 51% once it began, waiting for the CPU after synchronize: ")


@pytest.mark.parametrize(("steps", "part"), [(5, "of the steps"), (0, "once it began")])
def test_the_verdict_says_of_which_part_of_the_run_it_speaks(steps: int, part: str) -> None:
    split = DeviceSplit(0, "Card", 1000.0, 990.0, 0.0, 0.0, 10.0, {"launch": 10.0})
    verdict = Verdict("compute", 0.99, "The GPU is busy computing for 99% of the time: …", None)
    found = Diagnosis("run", verdict, Steps(steps, None), 1000.0, None, (split,))
    said = headline(Shown(nothing_of_a_device(), found, "simulated GPU")).plain
    assert said.startswith(f"GPU busy 99% {part}: ")
    assert said.count("busy") == 1


async def test_of_a_real_gpu_it_shows_the_host_and_says_why_there_is_no_more(seen: CourseApp, fake: FakeGrader) -> None:
    fake.gpu_kind, fake.events = "real", [each for each in EVENTS if each["what"] != "launch"]
    async with seen.run_test(size=SMALL) as pilot:
        timeline = await open_timeline(pilot, seen)
        assert not any(line.startswith(("GPU", "idle")) for line in drawn(timeline))
        assert "torch.profiler only" in at_cursor(seen)
        assert "real GPU" in seen.screen.query_one("#timeline-facts", StatusLine).text.plain
        assert not seen.screen.query_one(DataTable).display
        await press(pilot, "t", "s", "n", "plus", "minus", "0", "1", "c")


async def test_a_run_that_left_the_gpu_alone_says_so(seen: CourseApp, fake: FakeGrader) -> None:
    fake.events = [event("clock_read", 5.0, call="time.perf_counter")]
    async with seen.run_test(size=SMALL) as pilot:
        await open_timeline(pilot, seen)
        assert "gave the GPU nothing to do" in at_cursor(seen)


async def test_a_run_that_was_cut_off_says_so(seen: CourseApp, fake: FakeGrader) -> None:
    fake.events = [*EVENTS, event("cut_off", 100.0, limit=6)]
    async with seen.run_test(size=WIDE) as pilot:
        await open_timeline(pilot, seen)
        assert "cut off" in seen.screen.query_one("#timeline-facts", StatusLine).text.plain


def test_every_kind_is_told_apart_without_colours() -> None:
    assert HOST_GLYPHS.keys() == HOST_KINDS.keys()
    assert len(set(HOST_GLYPHS.values())) == len(HOST_KINDS)


async def test_without_colours_no_colour_is_used(
    make_app: Callable[[], CourseApp], fake: FakeGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    fake.events = EVENTS
    app = make_app()
    async with app.run_test(size=SMALL) as pilot:
        timeline = await open_timeline(pilot, app)
        styles = [segment.style for y in range(timeline.size.height) for segment in timeline.render_line(y)]
        colours = [style.color for style in styles if style and style.color]
        assert not [colour for colour in colours if colour.triplet is not None and not colour.is_system_defined]


# Moving


async def test_zooming_in_and_out_keeps_what_is_at_the_cursor_where_it_is(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        timeline = await open_timeline(pilot, seen)
        timeline.point_at(0.06)
        await press(pilot, "plus")
        begin_s, end_s = timeline.window
        assert end_s - begin_s == pytest.approx(0.05)
        assert (timeline.cursor_s - begin_s) / (end_s - begin_s) == pytest.approx(0.6)
        await press(pilot, "plus", "minus", "minus", "minus")
        assert timeline.window == pytest.approx((0.0, 0.1))


async def test_the_window_never_leaves_the_run(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        timeline = await open_timeline(pilot, seen)
        for keys in (("plus",) * 3, ("pagedown",) * 20, ("plus",) * 40, ("pageup",) * 20, ("end", "right", "right")):
            await pilot.press(*keys)
            await pilot.pause()
            begin_s, end_s = timeline.window
            assert 0.0 <= begin_s < end_s <= 0.1 + 1e-9
            assert 0.0 <= timeline.cursor_s <= 0.1
        await press(pilot, "0")
        assert timeline.window == pytest.approx((0.0, 0.1))


async def test_the_arrows_move_the_cursor_and_the_window_follows_it(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        timeline = await open_timeline(pilot, seen)
        await press(pilot, "right", "right")
        assert timeline.cursor_s == pytest.approx(2.5 * timeline.column_s)
        await press(pilot, "left")
        assert timeline.cursor_s == pytest.approx(1.5 * timeline.column_s)
        await press(pilot, "plus", "plus", "end")
        assert timeline.cursor_s == pytest.approx(0.1)
        assert timeline.window[1] == pytest.approx(0.1)


async def test_at_the_cursor_it_says_what_host_and_gpu_were_doing(seen: CourseApp) -> None:
    async with seen.run_test(size=WIDE) as pilot:
        timeline = await open_timeline(pilot, seen)
        timeline.point_at(0.025)
        await pilot.pause()
        assert "Host: synchronize, 28.80 ms" in at_cursor(seen)
        assert "GPU: relu of aten::relu, 9.000 ms" in at_cursor(seen)
        timeline.point_at(0.05)
        await pilot.pause()
        assert "Host: other code, 50.00 ms" in at_cursor(seen)
        assert "GPU: idle for 50.00 ms, waiting for other code after synchronize" in at_cursor(seen)


async def test_n_and_p_go_from_gap_to_gap(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        timeline = await open_timeline(pilot, seen)
        await press(pilot, "n")
        assert "waiting for the first kernel" in at_cursor(seen)
        await press(pilot, "n")
        assert timeline.cursor_s == pytest.approx(0.055)
        assert timeline.window[0] < 0.03 < 0.08 < timeline.window[1]
        await press(pilot, "p")
        assert timeline.cursor_s == pytest.approx(0.0005)


async def test_the_memory_is_a_row_of_bars_and_m_goes_to_its_peak(seen: CourseApp, fake: FakeGrader) -> None:
    mib = 2**20
    fake.events = [
        launch(0, 0, 10, allocated_bytes=16 * mib),
        launch(40, 40, 50, allocated_bytes=32 * mib),
        launch(60, 60, 100, allocated_bytes=8 * mib),
    ]
    async with seen.run_test(size=SMALL) as pilot:
        timeline = await open_timeline(pilot, seen)
        memory = row(timeline, "Mem")
        width = timeline.chart_width
        assert (memory[width // 5], memory[width // 2], memory[-1]) == ("▄", "█", "▂")
        assert "peak 32.0 MiB" in seen.screen.query_one("#timeline-facts", StatusLine).text.plain
        await press(pilot, "m")
        assert "32.0 MiB" in at_cursor(seen)
        await press(pilot, *["plus"] * 30)
        assert "32.0 MiB" in at_cursor(seen)


async def test_a_run_whose_memory_is_not_known_has_no_row_for_it(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        timeline = await open_timeline(pilot, seen)
        assert not [line for line in drawn(timeline) if line.startswith("Mem")]
        await press(pilot, "m")


async def test_a_click_moves_the_cursor_and_the_wheel_zooms_where_the_pointer_is(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        timeline = await open_timeline(pilot, seen)
        await pilot.click(Timeline, offset=(GUTTER + 40, 3))
        await pilot.pause()
        pointed_s = 40.5 * timeline.column_s
        assert timeline.cursor_s == pytest.approx(pointed_s)
        await pilot._post_mouse_events([scroll("up")], Timeline, offset=(GUTTER + 40, 3))
        await pilot.pause()
        begin_s, end_s = timeline.window
        assert end_s - begin_s == pytest.approx(0.05)
        assert begin_s < pointed_s < end_s


def scroll(direction: str) -> Any:
    from textual import events

    return events.MouseScrollUp if direction == "up" else events.MouseScrollDown


async def test_buttons_do_what_the_keys_do(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        timeline = await open_timeline(pilot, seen)
        await click(pilot, seen, "next-gap")
        await click(pilot, seen, "next-gap")
        await pilot.pause()
        assert timeline.cursor_s == pytest.approx(0.055)
        await click(pilot, seen, "table-1")
        await pilot.pause()
        assert rows(seen) == ["gemm", "relu"]


# The table


async def test_t_goes_through_the_tables_and_digits_choose_one(seen: CourseApp) -> None:
    async with seen.run_test(size=SMALL) as pilot:
        await open_timeline(pilot, seen)
        assert rows(seen) == ["other code after synchronize", "the first kernel"]
        await press(pilot, "t")
        assert rows(seen) == ["gemm", "relu"]
        await press(pilot, "t")
        assert rows(seen) == ["aten::gemm", "aten::relu"]
        await press(pilot, "t", "t", "t")
        assert rows(seen)[1] == "the first kernel"
        await press(pilot, "2")
        assert rows(seen) == ["gemm", "relu"]


async def test_s_and_a_click_on_a_column_sort_the_table(seen: CourseApp, fake: FakeGrader) -> None:
    fake.events = [launch(n, n, n + 0.1, name="small") for n in range(5)] + [launch(9, 9, 19, name="tall")]
    async with seen.run_test(size=SMALL) as pilot:
        await open_timeline(pilot, seen)
        await press(pilot, "2")
        assert rows(seen) == ["tall", "small"]
        found = []
        for _ in range(5):
            await press(pilot, "s")
            found.append(rows(seen)[0])
        assert found == ["tall", "tall", "small", "small", "tall"]  # longest, share, name, calls, total
        await pilot.click(DataTable, offset=(38, 0))
        await pilot.pause()
        assert rows(seen) == ["small", "tall"]


# The axis


@pytest.mark.parametrize(
    ("window_s", "most", "expected"), [(1.0, 10, 0.1), (1.0, 9, 0.2), (0.0123, 5, 0.005), (2e-6, 4, 5e-7), (60, 5, 20)]
)
def test_ticks_stand_at_round_times(window_s: float, most: int, expected: float) -> None:
    assert tick_s(window_s, most) == pytest.approx(expected)
