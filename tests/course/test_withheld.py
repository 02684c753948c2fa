"""In a copy of the course that came without solutions, the app says who has them, and keeps what is handed in."""

from __future__ import annotations

from pathlib import Path

import pytest

from course import catalog, workspace
from course.app.app import CourseApp
from course.app.grading import quiz_results, quiz_verdict
from course.app.screens.quiz import QuizScreen
from course.cli import main
from course.progress import Progress
from course.submit import collect
from course.workspace import Workspace, WorkspaceError
from grader import quiz
from grader.check import check
from grader.errors import GradedByInstructor
from solutions import WITHHELD
from tests.course.test_app import SMALL, go_to, press, shown


@pytest.fixture(autouse=True)
def _withheld(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Solutions as a released course has them: none."""
    solutions = tmp_path / "withheld solutions"
    solutions.mkdir()
    (solutions / WITHHELD).write_text("The solutions are with your instructor.")
    monkeypatch.setattr(quiz, "SOLUTIONS", solutions)
    for function in (quiz.withheld, quiz.read_answers):
        defaults = tuple(solutions if isinstance(each, Path) else each for each in function.__defaults__ or ())
        monkeypatch.setattr(function, "__defaults__", defaults)
    keyword = {**(quiz.grade_quiz.__kwdefaults__ or {}), "answers_in": solutions}
    monkeypatch.setattr(quiz.grade_quiz, "__kwdefaults__", keyword)


async def test_answers_to_a_quiz_are_kept_and_no_points_told(app: CourseApp, own: Workspace, kept: Progress) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/quiz")
        screen = app.screen
        assert isinstance(screen, QuizScreen)
        chosen = {}
        while (question := screen.question) is not None:
            chosen[question.id] = question.choices[0].id
            await press(pilot, "1", "enter")
            assert "● Kept." in shown(app)
            assert "✗" not in shown(app)
            await press(pilot, "enter")
        assert own.answers("perf_counter") == chosen
        assert "graded by your instructor" in shown(app)
        assert "points" not in shown(app)
        assert kept.best() == {}
        await press(pilot, "r")
        assert screen.question is not None


def test_a_quiz_s_answers_can_be_handed_in(home: Path) -> None:
    own = workspace.at_home()
    file = own.save_answers("perf_counter", {"a": "b"})
    packed, _ = collect(["perf_counter/quiz"], catalog.load(), own)
    assert [each.data for each in packed] == [file.read_bytes()]
    assert quiz_verdict("perf_counter", file, 1) is None
    assert {each.passed for each in quiz_results("perf_counter", file)} == {None}


def test_check_says_who_grades_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace.at_home().save_answers("perf_counter", {"a": "b"})
    assert main(["check", "perf_counter/quiz"]) == 2
    assert "graded by your instructor" in capsys.readouterr().err
    with pytest.raises(GradedByInstructor):
        check("perf_counter/quiz", workspace.at_home().answers_path("perf_counter"), runner=None)


def test_a_solution_is_with_the_instructor(tmp_path: Path) -> None:
    own = Workspace(tmp_path, solutions=quiz.SOLUTIONS)
    with pytest.raises(WorkspaceError, match="with your instructor"):
        own.solution("perf_counter/warm_up_and_repeat")
