"""The answers to a quiz are graded like an exercise: a check for each question, with the reason for each choice."""

from __future__ import annotations

from pathlib import Path

import pytest

import grader.quiz
from grader.check import check
from grader.errors import CheckFault
from grader.quiz import grade_quiz, quiz_ids
from grader.runner.warm import WarmRunner
from grader.verdict import CheckResult

QUESTIONS = """
[[questions]]
id = "idle"
asks = "Why is the GPU idle?"
choices = [{id = "input", text = "It waits for data."}, {id = "heat", text = "It is hot."}]

[[questions]]
id = "timer"
asks = "What does the timer read?"
choices = [{id = "launch", text = "The launch."}, {id = "work", text = "The work."}]
"""

ANSWERS = """
[idle]
right = "input"
points = 2
[idle.why]
input = "Right: the loader is slow."
heat = "A hot GPU is a busy one."

[timer]
right = "launch"
[timer.why]
launch = "Right: launches are asynchronous."
work = "Only after a synchronize."
"""


@pytest.fixture(autouse=True)
def quiz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, text in (("exercises", QUESTIONS), ("solutions", ANSWERS)):
        (tmp_path / folder / "lesson").mkdir(parents=True)
        (tmp_path / folder / "lesson" / "quiz.en.toml").write_text(text)
    monkeypatch.setattr(
        grade_quiz,
        "__kwdefaults__",
        {
            "notebook": False,
            "language": "en",
            "questions_in": tmp_path / "exercises",
            "answers_in": tmp_path / "solutions",
        },
    )
    monkeypatch.setattr(quiz_ids, "__defaults__", (tmp_path / "exercises",))


def graded(answers: str) -> tuple[str, list[CheckResult]]:
    return grade_quiz("lesson/quiz", answers.encode())


def test_right_answers_get_their_points_and_the_reason() -> None:
    assert graded('[answers]\nidle = "input"\ntimer = "launch"') == (
        "passed",
        [
            CheckResult("Why is the GPU idle?", True, 2, 2, "Right: the loader is slow."),
            CheckResult("What does the timer read?", True, 1, 1, "Right: launches are asynchronous."),
        ],
    )


def test_a_wrong_answer_is_told_why_and_an_open_one_that_it_is_open() -> None:
    assert graded('[answers]\nidle = "heat"') == (
        "failed",
        [
            CheckResult("Why is the GPU idle?", False, 0, 2, "A hot GPU is a busy one."),
            CheckResult("What does the timer read?", False, 0, 1, "Not answered."),
        ],
    )


@pytest.mark.parametrize("answer", ['"cold"', "3", "true", '["input"]', '{ input = "input" }', "1979-05-27"])
def test_an_answer_that_is_no_choice_is_told_the_choices(answer: str) -> None:
    status, results = graded(f"[answers]\nidle = {answer}")
    assert status == "failed"
    assert results[0].points == 0
    assert str(results[0].message).endswith("is not one of the choices: input, heat.")


@pytest.mark.parametrize(
    "text", ["[answers", "answers = 3", "\x00", "answers = " + "[" * 5000, '[answers]\nidle = "input"\nidle = "heat"']
)
def test_a_file_that_cannot_be_read_earns_nothing(text: str) -> None:
    status, results = graded(text)
    assert status == "error"
    assert [result.points for result in results] == [0, 0]
    assert all(str(result.message).startswith("The file with your answers can't be read: ") for result in results)


@pytest.mark.parametrize("text", ["", "[answers]", '[answers]\nidle = ""', '[answers]\nother = "input"'])
def test_a_quiz_without_any_answer_is_unanswered_rather_than_failed(text: str) -> None:
    status, results = graded(text)
    assert status == "unanswered"
    assert {result.message for result in results} == {"Not answered."}


def test_a_quiz_gets_a_verdict_without_a_run(tmp_path: Path) -> None:
    file = tmp_path / "quiz.toml"
    file.write_text('[answers]\nidle = "input"\ntimer = "work"')
    runner = WarmRunner()
    verdict = check("lesson/quiz", file, runner=runner, seed=3)
    assert (verdict.exercise, verdict.status, verdict.points, verdict.max_points) == ("lesson/quiz", "failed", 2, 3)
    assert verdict.gpu is None
    assert runner._warm is None
    runner.close()


def test_a_question_without_a_solution_is_a_fault_of_the_course(tmp_path: Path) -> None:
    (tmp_path / "solutions" / "lesson" / "quiz.en.toml").write_text(ANSWERS.replace("timer", "clock"))
    with pytest.raises(CheckFault, match="'timer' has no solution"):
        graded('[answers]\nidle = "input"')


@pytest.mark.parametrize("quiz_id", grader.quiz.quiz_ids())
def test_the_right_answers_of_every_quiz_pass_and_no_answers_do_not(
    quiz_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = quiz_id.partition("/")[0]
    right = "\n".join(f'{question} = "{answer.right}"' for question, answer in grader.quiz.read_answers(lesson).items())
    of_the_course = {"questions_in": grader.quiz.EXERCISES, "answers_in": grader.quiz.SOLUTIONS}
    assert grade_quiz(quiz_id, f"[answers]\n{right}".encode(), **of_the_course)[0] == "passed"
    assert grade_quiz(quiz_id, b"", **of_the_course)[0] == "unanswered"
