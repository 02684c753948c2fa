"""The lint finds what an author forgot, and says what to do about it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.lint import lint

FILES = {
    "exercises/lesson/task.py": "def f(): ...",
    "solutions/lesson/task.py": "def f(): return 1",
    "checks/lesson/test_task.py": '''import pytest
from grader.api import mistake

@pytest.mark.points(2)
def test_one(submission):
    """It is one."""
    assert submission.call("f").value == 1, mistake("not_one", got=2)
''',
    "misconceptions.toml": '[not_one]\nsays = "{got:.1f} is not one."',
    "exercises/lesson/quiz.en.toml": """[[questions]]
id = "q"
asks = "?"
choices = [{id = "a", text = "A"}, {id = "b", text = "B"}]
""",
    "solutions/lesson/quiz.en.toml": '[q]\nright = "a"\nwhy = {a = "Right.", b = "Wrong."}\n',
}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def complaints(course: Path) -> list[str]:
    return lint(course / "exercises", course / "solutions", course / "checks", course / "misconceptions.toml")


def test_a_complete_course_has_no_complaints(course: Path) -> None:
    assert complaints(course) == []


@pytest.mark.parametrize(
    ("folder", "complaint"),
    [
        ("exercises", "lesson/task: has no starter (exercises/lesson/task.py)."),
        ("solutions", "lesson/task: has no solution (solutions/lesson/task.py)."),
        ("checks", "lesson/task: has no checks."),
    ],
)
def test_a_missing_part_is_named(folder: str, complaint: str, course: Path) -> None:
    shutil.rmtree(course / folder)
    assert [text for text in complaints(course) if text.startswith(complaint)]


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        ("checks/lesson/test_task.py", "@pytest.mark.points(2)\n", "", ":4: test_one has no points."),
        ("checks/lesson/test_task.py", "points(2)", "points(0)", ": test_one has no points."),
        ("checks/lesson/test_task.py", "points(2)", "points(True)", ": test_one has no points."),
        ("checks/lesson/test_task.py", '    """It is one."""\n', "", ":5: test_one has no docstring."),
        ("checks/lesson/test_task.py", ', mistake("not_one", got=2)', "", ":7: assert without a message."),
        ("checks/lesson/test_task.py", '"not_one"', '"none"', ":7: misconceptions.toml has no [none]."),
        ("checks/lesson/test_task.py", "got=2", "", ":7: [not_one] says {got}, but the check gives no value got=."),
        ("checks/lesson/test_task.py", "got=2", "got=2, left=1", ":7: [not_one] doesn't say {left}."),
        ("checks/lesson/test_task.py", "def test_one(", "def test_one((", "test_task.py: can't be read"),
        ("checks/lesson/test_task.py", "def test_one", "def one", "test_task.py: has no check."),
        ("misconceptions.toml", "says", "said", "misconceptions.toml can't be read"),
        ("solutions/lesson/quiz.en.toml", '"a"', '"c"', "the right answer 'c' is not among its choices"),
        ("solutions/lesson/quiz.en.toml", ', b = "Wrong."', "", "nothing says why 'b' is right or wrong"),
        ("solutions/lesson/quiz.en.toml", "b =", "c =", "it explains 'c', which is not a choice"),
        ("solutions/lesson/quiz.en.toml", "[q]", "[r]", "question 'q' has no solution."),
        ("solutions/lesson/quiz.en.toml", "[q]", "[r]", "there is a solution for 'r', which is not asked."),
        ("exercises/lesson/quiz.en.toml", '"b"', '"a"', "at least two choices with different ids"),
    ],
)
def test_what_an_author_forgot_is_found(file: str, old: str, new: str, complaint: str, course: Path) -> None:
    text = (course / file).read_text()
    assert old in text
    (course / file).write_text(text.replace(old, new))
    assert [found for found in complaints(course) if complaint in found]


def test_checks_that_a_learner_could_not_tell_apart_are_found(course: Path) -> None:
    file = course / "checks" / "lesson" / "test_task.py"
    text = file.read_text()
    file.write_text(text + text[text.index("@pytest") :].replace("test_one", "test_two"))
    assert [found for found in complaints(course) if "same first line as test_one" in found]


def test_the_course_has_no_complaints() -> None:
    assert lint() == []
