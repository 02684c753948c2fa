"""How far a learner is: what was done of each lesson, counted once for every screen, report and command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from course.catalog import Catalog, Lesson, Step
from course.progress import Best, Progress
from lab.language import _, ngettext

State = Literal["new", "begun", "done"]


@dataclass(frozen=True)
class Done:
    """What the progress file says, read once."""

    seen: frozenset[str]
    best: Mapping[str, Best]

    def state(self, step: Step) -> State:
        """A card is done once it was opened, an exercise once it is passed, a quiz once it was answered to its end."""
        best = self.best.get(step.id)
        if step.kind == "exercise":
            return "done" if best and best.passed else "begun" if best else "new"
        if step.kind == "quiz":
            return "done" if best else "new"
        return "done" if step.id in self.seen else "new"

    def points(self, step: Step) -> int:
        """The points of the best attempt, at most those that there are today."""
        best = self.best.get(step.id)
        return min(best.points, step.points) if best else 0


@dataclass(frozen=True)
class LessonStanding:
    """How far a learner is in one lesson."""

    lesson: Lesson
    steps_done: int
    exercises_passed: int
    exercises: int
    quiz_points: int | None
    """The points of its quiz; None before it was answered to its end."""
    quiz_max_points: int
    points: int

    @property
    def complete(self) -> bool:
        """Whether every step was done: with mistakes in the quiz, too, since those were explained."""
        return self.steps_done == len(self.lesson.steps)

    @property
    def begun(self) -> bool:
        return self.steps_done > 0


@dataclass(frozen=True)
class Standing:
    """How far a learner is in the whole course."""

    lessons: tuple[LessonStanding, ...]

    @property
    def points(self) -> int:
        return sum(each.points for each in self.lessons)

    @property
    def max_points(self) -> int:
        return sum(each.lesson.points for each in self.lessons)

    @property
    def exercises_passed(self) -> int:
        return sum(each.exercises_passed for each in self.lessons)

    @property
    def exercises(self) -> int:
        return sum(each.exercises for each in self.lessons)

    @property
    def quizzes_taken(self) -> int:
        return sum(each.quiz_points is not None for each in self.lessons)

    @property
    def quizzes_without_mistakes(self) -> int:
        return sum(each.quiz_points is not None and each.quiz_points == each.quiz_max_points for each in self.lessons)

    @property
    def quizzes(self) -> int:
        return sum(any(step.kind == "quiz" for step in each.lesson.steps) for each in self.lessons)

    @property
    def complete(self) -> bool:
        return all(each.complete for each in self.lessons)


def done(kept: Progress) -> Done:
    """What was done of every step."""
    return Done(frozenset(kept.seen()), kept.best())


def standing(lessons: Catalog, what: Done) -> Standing:
    """How far the learner is."""
    return Standing(tuple(of_lesson(lesson, what) for lesson in lessons.lessons))


def of_lesson(lesson: Lesson, what: Done) -> LessonStanding:
    """How far the learner is in this lesson."""
    exercises = [step for step in lesson.steps if step.kind == "exercise"]
    quizzes = [step for step in lesson.steps if step.kind == "quiz"]
    taken = [step for step in quizzes if what.state(step) == "done"]
    return LessonStanding(
        lesson,
        steps_done=sum(what.state(step) == "done" for step in lesson.steps),
        exercises_passed=sum(what.state(step) == "done" for step in exercises),
        exercises=len(exercises),
        quiz_points=sum(map(what.points, taken)) if taken else None,
        quiz_max_points=sum(step.points for step in quizzes),
        points=sum(map(what.points, lesson.graded)),
    )


def next_step(lessons: Catalog, what: Done, at: Step | None) -> Step | None:
    """What to do next: where the learner stopped, else the first step after it that isn't done; None if all are."""
    steps = [step for lesson in lessons.lessons for step in lesson.steps]
    ids = [step.id for step in steps]
    first = ids.index(at.id) if at is not None else 0
    around = [*steps[first:], *steps[:first]]
    return next((step for step in around if what.state(step) != "done"), None)


def in_words(reached: Standing) -> str:
    """What is passed of what there is, and what counts as that."""
    quizzes = ngettext(
        "{taken} of {n} quiz taken", "{taken} of {n} quizzes taken", reached.quizzes, taken=reached.quizzes_taken
    )
    faultless = reached.quizzes_without_mistakes
    if reached.quizzes_taken:
        all_of_them = faultless == reached.quizzes_taken
        quizzes += _(" (all without a mistake)") if all_of_them else _(" ({n} without a mistake)", n=faultless)
    exercises = ngettext(
        "{passed} of {n} exercise passed",
        "{passed} of {n} exercises passed",
        reached.exercises,
        passed=reached.exercises_passed,
    )
    return f"{exercises}, {quizzes}"
