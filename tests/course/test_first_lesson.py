"""The real program in a pseudo-terminal through the whole first lesson: keys are pressed, and the screen is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from course import catalog, progress
from course.catalog import Lesson, Step
from course.quiz import shuffled_questions
from grader import quiz
from tests.course.real_terminal import RealTerminal

SOLUTIONS = Path(__file__).parents[2] / "solutions"
LONGER_THAN_ANY_STARTER = 120
pytestmark = pytest.mark.slow


def read_card(terminal: RealTerminal, lesson: Lesson, step: Step) -> None:
    """Read a card, predict what its program shows where it asks, run it, and go on."""
    terminal.read_until(f"{lesson.steps.index(step) + 1} of {len(lesson.steps)}")
    terminal.read_until(step.title[:40])
    if "```python run" in step.text:
        terminal.press("f5")
        if (prediction := step.prediction) is not None:
            terminal.read_until("A number or Enter answers.")
            terminal.press(str((prediction.right or 0) + 1))
        elif "**Predict:**" in step.text:
            terminal.read_until("A few words are enough")
            terminal.press("enter")
        terminal.read_until("✓ Finished")
    terminal.press("n")


def solve(terminal: RealTerminal, step: Step) -> None:
    """Put the solution in the place of the starter, check it, and go on."""
    terminal.read_until(step.title)
    terminal.press("f3")
    terminal.read_until("leaves the editor")
    terminal.press("ctrl+home", *["shift+down"] * LONGER_THAN_ANY_STARTER, "backspace")
    terminal.read_until("1:1")
    terminal.paste((SOLUTIONS / f"{step.id}.py").read_text("utf-8"))
    terminal.press("f6")
    terminal.read_until("✓ Passed")
    terminal.press("ctrl+n")


def answer_all(terminal: RealTerminal, lesson: Lesson, step: Step) -> None:
    """Give the right answer to each question of the quiz."""
    terminal.read_until("Question 1 of")
    with progress.at_home() as kept:
        seed = int(kept.setting(f"quiz seed {lesson.id}") or 0)
    answers = quiz.read_answers(lesson.id)
    questions = shuffled_questions(lesson.id, seed)
    for number, question in enumerate(questions, 1):
        terminal.read_until(f"Question {number} of {len(questions)}")
        right = [choice.id for choice in question.choices].index(answers[question.id].right)
        terminal.press(str(right + 1), "enter")
        terminal.read_until("shows the result" if number == len(questions) else "Enter goes on")
        assert "Not right" not in terminal.text
        terminal.press("enter")
    terminal.read_until(f"{step.points} of {step.points} points")
    terminal.press("enter")


def test_the_whole_first_lesson(home: Path) -> None:
    lesson, second = catalog.load().lessons[:2]
    terminal = RealTerminal(home, PROFILE_FIRST_GPU="simulated")
    terminal.read_until(lesson.title)
    terminal.press("enter")
    for step in lesson.steps:
        match step.kind:
            case "card":
                read_card(terminal, lesson, step)
            case "exercise":
                solve(terminal, step)
            case "quiz":
                answer_all(terminal, lesson, step)
            case "recap":
                terminal.read_until(f"{len(lesson.steps)} of {len(lesson.steps)}")
                terminal.press("end")
                terminal.read_until(f"{lesson.points} of {lesson.points} points")
                terminal.press("n")
    terminal.read_until(second.title)
    terminal.press("ctrl+q")
    assert terminal.exit_code() == 0
    terminal.close()
    assert not re.search(rb"Traceback", terminal.sent)
    with progress.at_home() as kept:
        best = kept.best()
        assert all(best[step.id].passed and best[step.id].points == step.points for step in lesson.graded)
        assert {step.id for step in lesson.steps} <= kept.seen()
        true, of = kept.predictions(lesson.id)
        assert true == of
