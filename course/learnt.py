"""What was learnt, lesson by lesson: read from the attempts, for the recaps and for the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from course import standing
from course.catalog import Catalog, Lesson, Step
from course.progress import Progress
from course.report import printable
from course.standing import Done, LessonStanding
from lab.language import _, ngettext

CardOf = Callable[[str], str | None]
"""The card that explains a mistake."""


@dataclass(frozen=True)
class Mistake:
    """A known mistake that was made in a lesson."""

    id: str
    card: Step | None
    times: int
    understood: bool
    """Whether every exercise in which it was made is passed."""

    @property
    def in_words(self) -> str:
        from grader.mistakes import in_words

        return printable(in_words(self.id))  # imported progress may say anything


@dataclass(frozen=True)
class Learnt:
    """What was done and understood in one lesson."""

    reached: LessonStanding
    checks: int
    """How often an exercise or the quiz was checked."""
    mistakes: tuple[Mistake, ...]
    open: tuple[Step, ...]
    """The exercises and quizzes that aren't done yet."""
    wrong_answers: tuple[str, ...]
    """The questions of the quiz that were answered wrong the last time."""
    predictions: tuple[int, int]
    """How many came true, of how many that could."""
    looked_first: tuple[Step, ...]
    """The exercises whose solution was looked at before they were passed."""
    spent_s: float

    @property
    def lesson(self) -> Lesson:
        return self.reached.lesson


def learnt(kept: Progress, lessons: Catalog, card_of: CardOf, only: str | None = None) -> tuple[Learnt, ...]:
    """What was learnt in each lesson, or in one of them."""
    what, verdicts = standing.done(kept), list(kept.verdicts())
    solutions, spent = kept.solutions_seen(), kept.spent_s()
    wanted = [lesson for lesson in lessons.lessons if only in (None, lesson.id)]
    return tuple(
        Learnt(
            reached=standing.of_lesson(lesson, what),
            checks=sum(what.best[step.id].attempts for step in lesson.graded if step.id in what.best),
            mistakes=tuple(_mistakes(lesson, verdicts, lessons, card_of, what)),
            open=tuple(step for step in lesson.graded if what.state(step) != "done"),
            wrong_answers=tuple(_wrong_answers(lesson, kept)),
            predictions=kept.predictions(lesson.id),
            looked_first=tuple(step for step in lesson.graded if solutions.get(step.id) is False),
            spent_s=spent.get(lesson.id, 0.0),
        )
        for lesson in wanted
    )


def _mistakes(
    lesson: Lesson, verdicts: Iterable[Mapping[str, Any]], lessons: Catalog, card_of: CardOf, what: Done
) -> Iterable[Mistake]:
    steps = {step.id: step for step in lesson.graded}
    times, made_in = dict[str, int](), dict[str, set[str]]()
    for verdict in verdicts:
        if verdict["exercise"] in steps:
            checks = verdict.get("checks", ())
            for mistake in sorted({check["mistake"] for check in checks if not check["passed"] and check["mistake"]}):
                times[mistake] = times.get(mistake, 0) + 1
                made_in.setdefault(mistake, set()).add(verdict["exercise"])
    for mistake, count in times.items():
        card = card_of(mistake)
        understood = all(what.state(steps[exercise]) == "done" for exercise in made_in[mistake])
        yield Mistake(mistake, lessons.step(card) if card else None, count, understood)


def _wrong_answers(lesson: Lesson, kept: Progress) -> Iterable[str]:
    for step in lesson.steps:
        if step.kind == "quiz" and (verdict := kept.last_verdict(step.id)):
            yield from (printable(check["name"]) for check in verdict.get("checks", ()) if not check["passed"])


def duration_in_words(seconds_s: float) -> str:
    """A time as one remembers it: 25 minutes, 1 h 40 min."""
    minutes = max(round(seconds_s / 60), 1)
    if minutes < 60:
        return ngettext("{n} minute", "{n} minutes", minutes)
    hours, rest = divmod(minutes, 60)
    return _("{hours} h {rest} min", hours=hours, rest=rest) if rest else f"{hours} h"
