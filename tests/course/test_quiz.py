"""The choices of a quiz are shuffled by a seed, in the app and in notebooks alike."""

from __future__ import annotations

import pytest

from course import catalog
from course.quiz import QuizUnreadable, shuffled_questions
from grader.quiz import read_answers, read_questions

LESSONS = [lesson.id for lesson in catalog.load().lessons]


def orders(lesson: str, seed: int) -> list[list[str]]:
    return [[choice.id for choice in question.choices] for question in shuffled_questions(lesson, seed)]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_seed_gives_the_same_order_and_no_choice_is_lost(lesson: str) -> None:
    asked = read_questions(lesson)
    assert orders(lesson, 7) == orders(lesson, 7)
    for seed in range(10):
        shuffled = shuffled_questions(lesson, seed)
        assert [(question.id, question.asks) for question in shuffled] == [(each.id, each.asks) for each in asked]
        for question, before in zip(shuffled, asked, strict=True):
            assert sorted(question.choices, key=lambda choice: choice.id) == sorted(
                before.choices, key=lambda choice: choice.id
            )


@pytest.mark.parametrize("lesson", LESSONS)
def test_over_many_seeds_the_right_choice_stands_in_every_place(lesson: str) -> None:
    answers = read_answers(lesson)
    places: dict[str, set[int]] = {question: set() for question in answers}
    for seed in range(40):
        for question in shuffled_questions(lesson, seed):
            places[question.id].add([choice.id for choice in question.choices].index(answers[question.id].right))
    for question in read_questions(lesson):
        assert places[question.id] == set(range(len(question.choices)))


def test_questions_that_cant_be_read_say_what_to_do() -> None:
    with pytest.raises(QuizUnreadable, match="Install profile-first again"):
        shuffled_questions("no_such_lesson", 1)
