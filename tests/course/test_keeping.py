"""Nothing that is typed is lost: undo over everything, a file that changes on both sides, two windows at once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from course import catalog, progress
from course.app.app import CourseApp
from course.app.screens.both_changed import BothChangedScreen
from course.app.screens.exercise import ExerciseScreen
from course.app.widgets.job import StatusLine
from course.app.widgets.prose import Prose
from course.progress import Progress
from course.workspace import Workspace
from grader.verdict import CheckResult
from tests.course.conftest import EXERCISE, STARTER, FakeGrader, verdict
from tests.course.test_app import SMALL, WIDE, MakeApp, editor, go_to, panel, press, until

TYPED = STARTER.replace("return", "xreturn")
THEIRS = STARTER + "# theirs\n"


def status(app: CourseApp) -> str:
    return app.screen.query_one("#editor-status", StatusLine).text.plain


def backups(own: Workspace) -> dict[str, str]:
    folder = own.folder / "perf_counter" / "backups"
    return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*"))} if folder.exists() else {}


def on_disk(own: Workspace) -> str:
    return own.path(EXERCISE).read_text("utf-8")


async def both_change(pilot: Pilot[None], app: CourseApp, own: Workspace) -> None:
    """Type, and let another program save before that is saved."""
    await go_to(pilot, app, EXERCISE)
    await press(pilot, "f3")
    editor(app).insert("x")
    own.path(EXERCISE).write_text(THEIRS, "utf-8")
    await until(pilot, lambda: "Ctrl+S asks" in status(app))


# Undo


async def test_undo_goes_back_over_a_run_a_check_an_outside_change_and_a_reset(
    app: CourseApp, own: Workspace, fake: FakeGrader
) -> None:
    fake.verdict = verdict(CheckResult("A check.", False, 0, 5, "Not yet."))
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "x", "f5")
        await until(pilot, lambda: "Finished" in panel(app).status.text.plain)
        await press(pilot, "f6")
        await until(pilot, lambda: panel(app).has_class("-verdict"))
        own.path(EXERCISE).write_text(TYPED + "# theirs\n", "utf-8")
        await until(pilot, lambda: "# theirs" in editor(app).text)
        assert "Ctrl+Z goes back" in status(app)
        await press(pilot, "f9", "y")
        await until(pilot, lambda: editor(app).text == STARTER)
        assert on_disk(own) == STARTER
        assert "Ctrl+Z undoes the reset" in status(app)
        await press(pilot, "ctrl+z")
        assert editor(app).text == TYPED + "# theirs\n"
        await press(pilot, "ctrl+z")
        assert editor(app).text == TYPED
        await press(pilot, "ctrl+z")
        assert editor(app).text == STARTER
        await press(pilot, *["ctrl+y"] * 3)
        await until(pilot, lambda: on_disk(own) == editor(app).text == STARTER)


async def test_undo_works_again_after_one_was_elsewhere(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "x", "ctrl+n")
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "ctrl+z")
        assert editor(app).text == STARTER


async def test_undo_does_not_go_back_over_what_another_program_saved_while_one_was_elsewhere(
    app: CourseApp, own: Workspace
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "x", "ctrl+n")
        own.path(EXERCISE).write_text(THEIRS, "utf-8")
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "ctrl+z")
        assert editor(app).text == THEIRS


# Another program


@pytest.mark.parametrize("theirs", [THEIRS, "", "a\r\nb\r\n", "a\x0cb\n# \u2028c\n", "no end of line"])
async def test_what_another_program_saves_is_never_changed_by_showing_it(
    app: CourseApp, own: Workspace, theirs: str
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        temporary = own.folder / "theirs"
        temporary.write_bytes(theirs.encode())
        temporary.replace(own.path(EXERCISE))
        await until(pilot, lambda: "Read again" in status(app))
        await press(pilot, "f3", "ctrl+s", "f2", "ctrl+n")
    assert own.path(EXERCISE).read_bytes() == theirs.encode()


async def test_a_file_that_is_deleted_is_written_again_before_it_runs(
    app: CourseApp, own: Workspace, fake: FakeGrader
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        own.path(EXERCISE).unlink()
        await press(pilot, "f5")
        await until(pilot, lambda: fake.asked == [("run", STARTER)])


# Both


async def test_while_it_is_not_decided_one_types_on_and_both_versions_are_kept(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await both_change(pilot, app, own)
        await press(pilot, "k", "t", "y")
        assert editor(app).text == STARTER.replace("return", "xktyreturn")
        await until(pilot, lambda: own.draft(EXERCISE) == editor(app).text)
        assert on_disk(own) == THEIRS
        assert "Ctrl+S asks" in status(app)


@pytest.mark.parametrize("size", [SMALL, WIDE, (60, 16)])
@pytest.mark.parametrize("key", ["k", "t"])
async def test_one_is_asked_which_version_stays_and_the_other_is_backed_up(
    app: CourseApp, own: Workspace, key: str, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await both_change(pilot, app, own)
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, BothChangedScreen)
        await press(pilot, "d")
        shown = app.screen.query_one("#difference")
        assert app.screen.region.contains_region(shown.region)
        assert "+    xreturn {}" in str(shown.query_one("Static").render())
        await press(pilot, key)
        await until(pilot, lambda: isinstance(app.screen, ExerciseScreen))
        stays, other = (TYPED, THEIRS) if key == "k" else (THEIRS, TYPED)
        assert editor(app).text == on_disk(own) == stays
        assert backups(own) == {"warm_up_and_repeat.1.py": other}
        assert "kept as backups/warm_up_and_repeat.1.py" in status(app)
        if key == "t":
            await press(pilot, "ctrl+z")
            assert editor(app).text == TYPED


async def test_one_can_decide_later_and_a_run_asks_first_and_goes_on(
    app: CourseApp, own: Workspace, fake: FakeGrader
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await both_change(pilot, app, own)
        await press(pilot, "f5")
        await until(pilot, lambda: isinstance(app.screen, BothChangedScreen))
        await press(pilot, "escape")
        assert "Ctrl+S asks" in status(app)
        assert fake.asked == []
        await press(pilot, "f5")
        await until(pilot, lambda: isinstance(app.screen, BothChangedScreen))
        await press(pilot, "k")
        await until(pilot, lambda: fake.asked == [("run", TYPED)])


async def test_it_is_asked_again_when_the_other_program_saves_once_more(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await both_change(pilot, app, own)
        await press(pilot, "ctrl+s")
        own.path(EXERCISE).write_text("again\n", "utf-8")
        await press(pilot, "k")
        assert on_disk(own) == "again\n"
        await press(pilot, "ctrl+s", "k")
        await until(pilot, lambda: on_disk(own) == TYPED)
        assert "again\n" in backups(own).values()


async def test_when_both_come_to_the_same_there_is_nothing_to_decide(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await both_change(pilot, app, own)
        own.path(EXERCISE).write_text(TYPED.replace("x", "xy"), "utf-8")
        await press(pilot, "y")
        await until(pilot, lambda: "Ctrl+S asks" not in status(app) and "Typing" not in status(app))
        assert backups(own) == {}


async def test_when_what_was_typed_is_undone_the_other_version_is_shown(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await both_change(pilot, app, own)
        await press(pilot, "ctrl+z")
        await until(pilot, lambda: editor(app).text == THEIRS and "Ctrl+S asks" not in status(app))
        assert on_disk(own) == THEIRS
        assert own.draft(EXERCISE) is None


async def test_what_was_not_decided_is_asked_at_the_next_start(make_app: MakeApp, own: Workspace) -> None:
    first = make_app()
    async with first.run_test(size=SMALL) as pilot:
        await both_change(pilot, first, own)
        await pilot.press("ctrl+q")
        assert not any("can't be saved" in notice.message for notice in first._notifications)
    assert on_disk(own) == THEIRS
    ended = subprocess.Popen(["true"])
    ended.wait()
    own._draft_path(EXERCISE, os.getpid()).rename(own._draft_path(EXERCISE, ended.pid))
    second = make_app()
    async with second.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(second.screen, ExerciseScreen) and "Ctrl+S asks" in status(second))
        assert editor(second).text == TYPED
        await press(pilot, "ctrl+s", "k")
        await until(pilot, lambda: on_disk(own) == TYPED)
        assert list(backups(own).values()) == [THEIRS]


async def test_a_reset_asks_once_and_keeps_both(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await both_change(pilot, app, own)
        await press(pilot, "f9", "y")
        await until(pilot, lambda: on_disk(own) == STARTER)
        assert isinstance(app.screen, ExerciseScreen)
        assert set(backups(own).values()) == {THEIRS, TYPED}
        assert own.draft(EXERCISE) is None
        assert "Ctrl+Z undoes the reset" in status(app)
        await press(pilot, "ctrl+z")
        assert editor(app).text == TYPED


async def test_what_another_program_saves_that_is_no_text_is_backed_up_when_mine_stays(
    app: CourseApp, own: Workspace
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3")
        editor(app).insert("x")
        own.path(EXERCISE).write_bytes(b"\xff")
        await until(pilot, lambda: "Ctrl+S asks" in status(app))
        await press(pilot, "ctrl+s", "t")
        assert any("isn't UTF-8" in notice.message for notice in app._notifications)
        await press(pilot, "ctrl+s", "k")
        await until(pilot, lambda: own.path(EXERCISE).read_bytes() == TYPED.encode())
        assert (own.folder / "perf_counter" / "backups" / "warm_up_and_repeat.1.py").read_bytes() == b"\xff"


# Two windows


@pytest.fixture
def two(lessons: Path, own: Workspace, home: Path) -> Iterator[Callable[[], CourseApp]]:
    """Makes apps that share a home as two processes do: each has its own connection to the progress."""
    opened: list[Progress] = []

    def make() -> CourseApp:
        opened.append(progress.at_home())
        return CourseApp(catalog.load(lessons), own, opened[-1], FakeGrader)

    yield make
    for each in opened:
        each.close()


async def test_what_is_typed_in_one_window_is_shown_in_the_other_and_the_other_way_round(
    two: Callable[[], CourseApp], own: Workspace
) -> None:
    left, right = two(), two()
    async with left.run_test(size=SMALL) as in_left, right.run_test(size=SMALL) as in_right:
        for app, pilot in ((left, in_left), (right, in_right)):
            await go_to(pilot, app, EXERCISE)
            await press(pilot, "f3")
        for number in range(3):
            for (app, pilot), (other, _) in (
                ((left, in_left), (right, in_right)),
                ((right, in_right), (left, in_left)),
            ):
                await press(pilot, str(number))
                await until(pilot, lambda app=app, other=other: editor(other).text == editor(app).text)
        assert backups(own) == {}
        assert sorted(character for character in on_disk(own) if character.isdigit()) == list("001122")


async def test_two_windows_that_type_at_the_same_time_lose_nothing(
    two: Callable[[], CourseApp], own: Workspace
) -> None:
    left, right = two(), two()
    async with left.run_test(size=SMALL) as in_left, right.run_test(size=SMALL) as in_right:
        for app, pilot in ((left, in_left), (right, in_right)):
            await go_to(pilot, app, EXERCISE)
            await press(pilot, "f3")
        for number in range(3):
            editor(left).insert(f"left{number}")
            editor(right).insert(f"right{number}")
            await in_left.pause()
        await until(in_left, lambda: "Ctrl+S asks" in status(left) or "Ctrl+S asks" in status(right))
        asked, saved, pilot = (left, right, in_left) if "Ctrl+S asks" in status(left) else (right, left, in_right)
        await until(pilot, lambda: on_disk(own) == editor(saved).text)
        await press(pilot, "ctrl+s", "k")
        await until(pilot, lambda: on_disk(own) == editor(asked).text == editor(saved).text)
        kept = on_disk(own) + "".join(backups(own).values())
        assert all(f"{side}{number}" in kept for side in ("left", "right") for number in range(3))
        await until(pilot, lambda: "Ctrl+S asks" not in status(left) + status(right))


# What went wrong, at its line


async def test_an_error_is_shown_at_its_line_and_below_the_editor_until_the_line_changes(
    app: CourseApp, fake: FakeGrader
) -> None:
    fake.prints = (
        'Traceback (most recent call last):\n  File "/x/warm_up_and_repeat.py", line 5, in time_step\n    return {}\n'
        '  File "/y/torch.py", line 9, in f\nValueError: too [bold]small[/bold]\n'
    )
    fake.exit_code = 1
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f5")
        await until(pilot, lambda: "Ctrl+L goes to line 5" in panel(app).status.text.plain)
        await press(pilot, "ctrl+l")
        assert editor(app).marks == {4: "ValueError: too [bold]small[/bold]"}
        assert "✗ ValueError: too [bold]small[/bold]" in status(app)
        await press(pilot, "up")
        assert "ValueError" not in status(app)
        await press(pilot, "down", "x")
        assert editor(app).marks == {}


async def test_a_failed_check_is_shown_at_the_line_that_it_names(
    app: CourseApp, fake: FakeGrader, kept: Progress
) -> None:
    fake.verdict = verdict(
        CheckResult(
            "One.",
            False,
            0,
            2,
            "`time_step` stopped with an error: KeyError: 'a'\n  warm_up_and_repeat.py, line 5, in f\n    return 1",
        ),
        CheckResult("Two.", False, 0, 3, "No line is known."),
    )
    async with app.run_test(size=WIDE) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f6")
        await until(pilot, lambda: editor(app).marks == {4: "KeyError: 'a'"})
        assert "Not yet" in "".join(prose.text for prose in app.screen.query(Prose))
