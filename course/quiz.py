"""The questions of a lesson's quiz, their choices shuffled, for the app and for notebooks alike."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from lab.language import _, current

if TYPE_CHECKING:
    from grader.quiz import Question


class QuizUnreadable(Exception):
    """The questions can't be read; the message says why and what to do."""


def shuffled_questions(lesson: str, seed: int) -> list[Question]:
    """The questions of a lesson's quiz in their order, each with its choices shuffled by the seed."""
    from msgspec.structs import replace

    from grader import quiz
    from grader.errors import GraderError

    try:
        questions = quiz.read_questions(lesson, current())
    except GraderError as error:
        raise QuizUnreadable(_("{error} Install profile-first again.", error=error)) from error
    shuffled = []
    for question in questions:
        choices = list(question.choices)
        random.Random(f"{seed} {question.id}").shuffle(choices)
        shuffled.append(replace(question, choices=choices))
    return shuffled
