"""Grades the answers to a quiz: one check for each question."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

import exercises
import solutions
from grader.errors import CheckFault, GradedByInstructor
from grader.feedback import printable
from grader.notebook import NotebookUnreadable, read_notebook
from grader.notebook import answers_in as answers_of_notebook
from grader.toml import read_toml
from grader.verdict import CheckResult, Status
from lab.language import ENGLISH, N_, _

EXERCISES = Path(exercises.__path__[0])
SOLUTIONS = Path(solutions.__path__[0])
T = TypeVar("T")
NOT_ANSWERED = N_("Not answered.")


class Choice(msgspec.Struct, frozen=True):
    id: str
    text: str


class Question(msgspec.Struct, frozen=True):
    id: str
    asks: str
    choices: list[Choice]


class Questions(msgspec.Struct, frozen=True):
    questions: list[Question]


class Answer(msgspec.Struct, frozen=True):
    """The right choice, and why each choice is right or wrong."""

    right: str
    why: dict[str, str]
    points: int = 1


class Submitted(msgspec.Struct, frozen=True):
    """A learner's file; an answer of another type than text is no answer."""

    answers: dict[str, object] = {}


def is_quiz(exercise: str) -> bool:
    return exercise in quiz_ids()


def quiz_ids(folder: Path = EXERCISES) -> list[str]:
    return sorted({f"{file.parent.name}/quiz" for file in folder.glob("*/quiz.*.toml")})


def withheld(folder: Path = SOLUTIONS) -> bool:
    """Whether this copy of the course came without solutions, on purpose."""
    return (folder / solutions.WITHHELD).is_file()


def graded_by_instructor(exercise: str) -> GradedByInstructor:
    return GradedByInstructor(
        _(
            "{exercise} is graded by your instructor: this copy of the course has no answers. "
            "Hand it in: 'profile-first submit --out hand-in.zip'.",
            exercise=exercise,
        )
    )


def read_questions(lesson: str, language: str = "en", folder: Path = EXERCISES) -> list[Question]:
    return _read(folder / lesson / f"quiz.{language}.toml", Questions).questions


def read_answers(lesson: str, language: str = "en", folder: Path = SOLUTIONS) -> dict[str, Answer]:
    if withheld(folder):
        raise graded_by_instructor(f"{lesson}/quiz")
    return _read(folder / lesson / f"quiz.{language}.toml", dict[str, Answer])


def _read(path: Path, shape: type[T]) -> T:
    if not path.is_file():  # not translated yet
        path = path.with_name(f"quiz.{ENGLISH}.toml")
    try:
        return read_toml(path.read_text(encoding="utf-8"), shape)
    except (OSError, ValueError) as error:
        raise CheckFault(f"The quiz {path.parent.name}/{path.name} can't be read: {error}") from error


def grade_quiz(
    exercise: str,
    data: bytes,
    *,
    notebook: bool = False,
    language: str = "en",
    questions_in: Path = EXERCISES,
    answers_in: Path = SOLUTIONS,
) -> tuple[Status, list[CheckResult]]:
    """Compare the answers in the learner's TOML file, or in a cell of their notebook, with the right ones."""
    lesson = exercise.partition("/")[0]
    questions = read_questions(lesson, language, questions_in)
    solutions_by_id = read_answers(lesson, language, answers_in)
    unreadable = None
    given: dict[str, object] = {}
    try:
        if notebook:
            given = answers_of_notebook(read_notebook(data, _("The notebook")))
        else:
            given = read_toml(data.decode("utf-8-sig"), Submitted).answers
    except (ValueError, NotebookUnreadable) as error:  # includes wrong UTF-8
        unreadable = _("The file with your answers can't be read: {error}", error=printable(str(error))[:300])
    results = [_grade(question, solutions_by_id, given, unreadable) for question in questions]
    if unreadable is not None:
        return "error", results
    if all(given.get(question.id) in (None, "") for question in questions):
        return "unanswered", results
    return ("passed" if all(result.passed for result in results) else "failed"), results


def _grade(
    question: Question, answers: dict[str, Answer], given: dict[str, object], unreadable: str | None
) -> CheckResult:
    answer = answers.get(question.id)
    if answer is None:
        raise CheckFault(f"The quiz's question {question.id!r} has no solution.")
    chosen = given.get(question.id)
    right = type(chosen) is str and chosen == answer.right
    if unreadable is not None:
        message = unreadable
    elif chosen is None or chosen == "":
        message = _(NOT_ANSWERED)
    elif isinstance(chosen, str) and chosen in answer.why:
        message = answer.why[chosen]
    else:
        choices = ", ".join(choice.id for choice in question.choices)
        message = _(
            "{chosen!r} is not one of the choices: {choices}.", chosen=printable(str(chosen))[:100], choices=choices
        )
    return CheckResult(question.asks, right, answer.points if right else 0, answer.points, message)
