"""A solution stands beside the learner's code: at once after passing, before that only on an explicit wish."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from course import catalog, folders
from course.app.app import CourseApp
from course.app.diff import SIDE_BY_SIDE, show
from course.app.screens.confirm import ConfirmScreen
from course.app.screens.exercise import ExerciseScreen
from course.app.screens.solution import SolutionScreen
from course.app.widgets.actions import ActionBar
from course.compare import Fold, Row, compare
from course.workspace import Workspace
from grader.verdict import CheckResult, to_plain
from tests.course.conftest import EXERCISE, STARTER, verdict
from tests.course.test_app import SMALL, WIDE, go_to, press, until

SOLUTION = STARTER.replace("return {}", "return {'first_s': step()}")
LINES = st.lists(st.sampled_from(["", "a = 1", "a = 2", "    b", "    call(a, b)", "x"]), max_size=12)


def kinds(rows: list[Row | Fold]) -> list[str]:
    return [row.kind if isinstance(row, Row) else f"{row.lines} folded" for row in rows]


@given(LINES, LINES)
def test_every_line_of_both_versions_is_shown_or_folded_once(left: list[str], right: list[str]) -> None:
    rows = compare("\n".join(left), "\n".join(right))
    ours, theirs = ("\n".join(each).rstrip().splitlines() for each in (left, right))
    folded = sum(row.lines for row in rows if isinstance(row, Fold))
    shown = [row for row in rows if isinstance(row, Row)]
    for side, lines in (("left", ours), ("right", theirs)):
        there = [getattr(row, side) for row in shown if getattr(row, side) is not None]
        assert len(there) + folded == len(lines)
        assert [line.number for line in there] == sorted({line.number for line in there})
        assert all(lines[line.number].rstrip() == line.text for line in there)


@given(LINES)
def test_a_version_doesnt_differ_from_itself(lines: list[str]) -> None:
    assert {kind for kind in kinds(compare("\n".join(lines), "\n".join(lines))) if "folded" not in kind} <= {"same"}


def test_equal_lines_are_folded_but_for_those_around_a_change() -> None:
    task = [f"# the task, line {number}" for number in range(10)]
    rows = compare("\n".join([*task, "return 1"]), "\n".join([*task, "return 2"]))
    assert kinds(rows) == ["8 folded", "same", "same", "changed"]


def test_the_words_that_differ_are_marked() -> None:
    (row,) = compare("seconds = clock() - start", "seconds = clock() - begin")
    assert isinstance(row, Row)
    assert row.left is not None
    assert row.right is not None
    assert [row.left.text[slice(*span)] for span in row.left.words] == ["start"]
    assert [row.right.text[slice(*span)] for span in row.right.words] == ["begin"]


def test_lines_that_are_alike_stand_beside_each_other() -> None:
    rows = compare("total = 0\nloss = step(x)", "import torch\nloss = step(x, y)")
    assert kinds(rows) == ["left", "right", "changed"]


def test_spaces_at_the_end_of_a_line_are_no_difference() -> None:
    assert kinds(compare("a  \nb\t\n\n", "a\nb")) == ["same", "same"]


@pytest.mark.parametrize("width", [SIDE_BY_SIDE, SIDE_BY_SIDE - 1, 70])
def test_signs_tell_what_differs_where_there_are_no_colours(width: int) -> None:
    shown = show(compare(STARTER, SOLUTION), STARTER, SOLUTION, width, painted=False)
    text = shown.text.plain
    assert "-     return {}" in text
    assert "+     return {'first_s': step()}" in text
    assert not any(" on " in f" {span.style} " for span in shown.text.spans)
    assert max(map(len, text.split("\n"))) <= width
    assert len(shown.changes) == 1


@pytest.mark.parametrize("exercise", [step.id for step in catalog.load().graded() if step.kind == "exercise"])
def test_each_solution_is_compared_with_its_starter(exercise: str) -> None:
    starter, solution = ((folder / f"{exercise}.py").read_text() for folder in (folders.EXERCISES, folders.SOLUTIONS))
    rows = compare(starter, solution)
    assert isinstance(rows[0], Fold), "the task is the same in both and drowns the change"
    for width in (74, 114):
        shown = show(rows, starter, solution, width, painted=True)
        assert shown.changes
        assert max(line.cell_length for line in shown.text.split("\n")) <= width


@pytest.fixture
def with_solution(own: Workspace, tmp_path: Path, make_app: Callable[[], CourseApp]) -> CourseApp:
    """The app, with a solution for its exercise."""
    (tmp_path / "solutions/perf_counter").mkdir(parents=True)
    (tmp_path / f"solutions/{EXERCISE}.py").write_text(SOLUTION)
    app = make_app()
    app.workspace = replace(own, solutions=tmp_path / "solutions")
    return app


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_before_passing_the_app_asks_and_then_shows_it(size: tuple[int, int], with_solution: CourseApp) -> None:
    app = with_solution
    async with app.run_test(size=size) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "d")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await press(pilot, "n")
        await until(pilot, lambda: isinstance(app.screen, ExerciseScreen))
        assert app.progress.solutions_seen() == {}
        await press(pilot, "ctrl+d")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await press(pilot, "y")
        await until(pilot, lambda: isinstance(app.screen, SolutionScreen))
        assert app.progress.solutions_seen() == {EXERCISE: False}
        await press(pilot, "escape")
        await until(pilot, lambda: isinstance(app.screen, ExerciseScreen))
        await press(pilot, "d")
        await until(pilot, lambda: isinstance(app.screen, SolutionScreen))


async def test_after_passing_it_is_shown_at_once_from_the_editor_too(with_solution: CourseApp) -> None:
    app = with_solution
    app.progress.record(to_plain(verdict(CheckResult("It is.", True, 5, 5), status="passed")))
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "d", "ctrl+d")
        await until(pilot, lambda: isinstance(app.screen, SolutionScreen))
        assert app.progress.solutions_seen() == {EXERCISE: True}
        assert app.workspace.path(EXERCISE).read_text().count("d") == STARTER.count("d") + 1


async def test_n_and_p_go_from_change_to_change(with_solution: CourseApp) -> None:
    app = with_solution
    app.progress.see_solution(EXERCISE, passed=False)
    far = "\n".join(f"line_{number} = {number}" for number in range(40))
    app.workspace.solution(EXERCISE)
    (app.workspace.solutions / f"{EXERCISE}.py").write_text(f"# one\n{far}\n# two\n{far}\n# three\n")
    app.workspace.open(EXERCISE)
    app.workspace.save(EXERCISE, f"{far}\n{far}\n")
    async with app.run_test(size=(80, 16)) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "d")
        await until(pilot, lambda: isinstance(app.screen, SolutionScreen) and app.screen._changes)
        told = []
        for key in ("n", "n", "n", "n", "p"):
            await press(pilot, key)
            told.append(app.screen.query_one(ActionBar).middle.plain)
        assert told == [f"change {number} of 3" for number in (1, 2, 3, 3, 2)]


async def test_a_solution_that_is_missing_says_what_to_do(with_solution: CourseApp) -> None:
    app = with_solution
    (app.workspace.solutions / f"{EXERCISE}.py").unlink()
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "d")
        assert isinstance(app.screen, ExerciseScreen)
        assert any("Install profile-first again" in note.message for note in app._notifications)


@pytest.mark.parametrize("width", [60, SIDE_BY_SIDE + 20])
def test_the_rest_of_a_line_that_is_wider_than_its_place_is_told_from_a_line_of_its_own(width: int) -> None:
    mine, theirs = f"a = {'1 + ' * 40}1\n", "a = 41\n"
    lines = show(compare(mine, theirs), mine, theirs, width, painted=False).text.plain.splitlines()
    rest = [line for line in lines if "1 + 1" in line][1:]
    assert rest
    assert all(line.startswith("… ") for line in rest)
