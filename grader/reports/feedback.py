"""students/<student>/feedback.md and feedback.html: what a student is told, with all that is needed to repeat it.

It says what the messages of the checks say, and where the course teaches what went wrong. What only concerns the
instructor or the machine, such as the grader's own troubles or paths, is not in it.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath

from grader.batch.records import Result, Row, Score
from grader.mistakes import card_of
from grader.reports.characters import one_line
from grader.reports.pages import html_page, markdown_page
from grader.reports.scores import has_points, is_quiz, moment, told_before, verdict_of, was_tried, why_changed
from grader.reports.taught import place_of
from grader.reports.words import Words
from grader.verdict import CheckResult, Verdict

CHECKSUM = 12  # characters of it that a student compares


@dataclass(frozen=True)
class CheckShown:
    """A check as the feedback shows it."""

    name: str
    passed: bool
    points: str
    message: str | None
    """What was seen and what to do; None if there is nothing to say, or if it was said above."""
    same_reason: bool
    taught: str | None
    """The card to read again, once for each exercise."""


@dataclass(frozen=True)
class ExerciseShown:
    """An exercise as the feedback shows it."""

    exercise: str
    title: str
    status: str
    result: str
    points: str
    short_points: str
    notes: tuple[str, ...]
    """What else there is to the points: lateness, the instructor's own, or why there are none."""
    handed_in: tuple[str, ...]
    checks: tuple[CheckShown, ...]
    repeat: tuple[str, str] | None
    """A sentence and a command."""
    ran_on: str | None


@dataclass(frozen=True)
class Feedback:
    """Everything that a student is told."""

    title: str
    name: str
    student: str
    points: str
    share: float
    exercises: tuple[ExerciseShown, ...]
    all_passed: bool


def feedback_html(title: str, row: Row, words: Words) -> bytes:
    return html_page("feedback.html", words=words, feedback=feedback(title, row, words))


def feedback_markdown(title: str, row: Row, words: Words) -> bytes:
    return markdown_page("feedback.md", words=words, feedback=feedback(title, row, words))


def feedback(title: str, row: Row, words: Words) -> Feedback:
    shown = tuple(_exercise(score, words) for score in row.scores)
    return Feedback(
        title=title,
        name=row.student.name or row.student.id,
        student=row.student.id,
        points=words("feedback.points", points=words.number(row.points), max=row.max_points),
        share=row.points / row.max_points if row.max_points else 0.0,
        exercises=shown,
        all_passed=bool(shown) and all(each.status == "passed" for each in shown),
    )


def _exercise(score: Score, words: Words) -> ExerciseShown:
    verdict, result = verdict_of(score), score.counted
    points = words("feedback.points", points=words.number(score.points), max=score.max_points)
    short = words("check.points_short", points=words.number(score.points), max=score.max_points)
    return ExerciseShown(
        exercise=score.exercise,
        title=_title(score.exercise, words),
        status=score.status,
        result=words(f"status.{score.status}"),
        points=points if has_points(score) else words("status.ungraded"),
        short_points=short if has_points(score) else "-",
        notes=tuple(_notes(score, words)),
        handed_in=tuple(_handed_in(score, result, words)) if result is not None else (),
        checks=_checks(verdict, words) if verdict is not None and was_tried(score) else (),
        repeat=_repeat(result, words) if verdict is not None and result is not None else None,
        ran_on=_ran_on(verdict, words) if verdict is not None else None,
    )


def _title(exercise: str, words: Words) -> str:
    place = place_of(exercise, words.language)
    if place is None:
        return exercise
    return words("feedback.quiz", lesson=place.lesson_title) if is_quiz(exercise) else place.title


def _notes(score: Score, words: Words) -> list[str]:
    notes = []
    if score.status in ("missing", "unanswered", "ungraded"):
        notes.append(words(f"explained.{score.status}"))
    return [*notes, *why_changed(score, words)]


def _handed_in(score: Score, result: Result, words: Words) -> list[str]:
    attempt = result.attempt
    at_s = attempt.handed_in_at_s
    lines = [attempt.shown]
    if at_s is not None:
        lines = [words("feedback.file_at", file=attempt.shown, at=moment(at_s).strftime("%Y-%m-%d %H:%M"))]
    if score.attempts > 1:
        lines.append(words("feedback.attempts", n=score.attempts, number=attempt.number))
    version, checksum = result.course_version, result.source_sha256[:CHECKSUM]
    lines.append(words("feedback.version", version=version, checksum=checksum))
    return lines


def _checks(verdict: Verdict, words: Words) -> tuple[CheckShown, ...]:
    shown, cards = [], set[str]()
    for check, known in zip(verdict.checks, told_before(verdict), strict=True):
        card = card_of(check.mistake) if not check.passed else None
        taught = _taught(card, words) if card is not None and card not in cards else None
        cards |= {card} if card is not None else set()
        shown.append(_check(check, known, taught))
    return tuple(shown)


def _check(check: CheckResult, known: bool, taught: str | None) -> CheckShown:
    return CheckShown(
        name=check.name,
        passed=check.passed,
        points=f"{check.points}/{check.max_points}",
        message=check.message if check.message and not known else None,
        same_reason=known,
        taught=taught,
    )


def _taught(card: str, words: Words) -> str:
    place = place_of(card, words.language)
    if place is None:
        return words("feedback.taught_unknown", card=card)
    return words("feedback.taught", lesson=place.lesson, lesson_title=place.lesson_title, card_title=place.title)


def _repeat(result: Result, words: Words) -> tuple[str, str]:
    exercise = result.attempt.exercise
    file = shlex.quote(PurePosixPath(one_line(result.attempt.shown).replace("\\", "/")).name or "FILE")
    command = f"profile-first check {file} --exercise {exercise}"
    if is_quiz(exercise):
        return words("feedback.repeat_quiz"), command
    return words("feedback.repeat_text"), f"{command} --seed {result.seed}"


def _ran_on(verdict: Verdict, words: Words) -> str | None:
    if verdict.gpu is None:
        return None
    return words("feedback.ran_on", gpu=words(f"feedback.{verdict.gpu.kind}", name=verdict.gpu.name))
