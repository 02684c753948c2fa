"""Each question of a quiz has choices, one right answer, and a reason for every choice."""

from __future__ import annotations

from collections.abc import Iterator

from grader.errors import CheckFault
from grader.lint.places import Course
from grader.quiz import read_answers, read_questions

FEWEST_QUESTIONS = 4


def complaints(course: Course) -> Iterator[str]:
    for lesson in course.quiz_lessons():
        yield from _quiz(course, lesson)


def _quiz(course: Course, lesson: str) -> Iterator[str]:
    place = f"exercises/{lesson}/quiz.en.toml"
    reasons = f"solutions/{lesson}/quiz.en.toml"
    try:
        questions = read_questions(lesson, folder=course.exercises)
        answers = read_answers(lesson, folder=course.solutions)
    except CheckFault as fault:
        yield f"{place}, {reasons}: {fault}. Correct it."
        return
    if len(questions) < FEWEST_QUESTIONS:
        yield f"{place}: asks {len(questions)} questions. A quiz has {FEWEST_QUESTIONS} or more."
    for question in questions:
        here = f"{place}: question {question.id!r}"
        choices = [choice.id for choice in question.choices]
        there = f"{reasons}: question {question.id!r}"
        answer = answers.get(question.id)
        if len(set(choices)) != len(choices) or len(choices) < 2:
            yield f"{here} needs at least two choices with different ids."
        if answer is None:
            yield f"{here} has no solution. Add [{question.id}] to {reasons}."
            continue
        if answer.right not in choices:
            yield f"{there}: the right answer {answer.right!r} is not among its choices. Correct it."
        if answer.points < 1:
            yield f"{there} is worth {answer.points} points. Give it 1 or more."
        for choice in choices:
            if not answer.why.get(choice, "").strip():
                yield f"{there}: nothing says why {choice!r} is right or wrong. Add it to its why."
        for extra in sorted(set(answer.why) - set(choices)):
            yield f"{there}: it explains {extra!r}, which is not a choice. Drop it."
    ids = [question.id for question in questions]
    if len(set(ids)) != len(ids):
        yield f"{place}: two questions have the same id. Rename one."
    for extra in sorted(set(answers) - set(ids)):
        yield f"{reasons}: there is a solution for {extra!r}, which is not asked. Drop it."
