"""What several reports ask of a gradebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone

from grader.batch.records import Gradebook, Row, Score
from grader.reports.characters import plain
from grader.reports.words import Words
from grader.verdict import Verdict


def scores_of(row: Row) -> Mapping[str, Score]:
    return {score.exercise: score for score in row.scores}


def has_points(score: Score) -> bool:
    """Whether the points say anything: not where the grader failed, unless the instructor set them by hand."""
    return score.status != "ungraded" or score.overridden is not None


def verdict_of(score: Score) -> Verdict | None:
    return score.counted.verdict if score.counted is not None else None


def was_tried(score: Score) -> bool:
    """Whether there is a verdict that says something: not of a quiz without an answer."""
    verdict = verdict_of(score)
    return verdict is not None and verdict.status != "unanswered"


def verdicts(gradebook: Gradebook) -> Iterator[tuple[Row, Score, Verdict]]:
    """The verdicts that count and say something."""
    for row in gradebook.rows:
        for score in row.scores:
            verdict = verdict_of(score)
            if verdict is not None and was_tried(score):
                yield row, score, verdict


def is_quiz(exercise: str) -> bool:
    return exercise.endswith("/quiz")


def told_before(verdict: Verdict) -> list[bool]:
    """For each check, whether its message is that of a failed check above it; the questions of a quiz stand alone."""
    told: set[str] = set()
    again = []
    for check in verdict.checks:
        known = not check.passed and check.message in told and not is_quiz(verdict.exercise)
        again.append(known)
        if not check.passed and check.message:
            told.add(check.message)
    return again


def why_changed(score: Score, words: Words) -> Iterator[str]:
    """Why the points aren't those of the checks: the instructor set them, or else lateness cost some of them."""
    points = words.number(score.points)
    if score.overridden is not None:
        key = "override.long" if score.overridden.strip() else "override.no_reason"
        yield words(key, points=points, reason=plain(score.overridden))
    elif score.late_days > 0:
        before = words.number(score.before_lateness)
        key = "late.long" if before != points else "late.alone"
        yield words.count(key, score.late_days, days=words.number(score.late_days), points=points, before=before)


def moment(at_s: float) -> datetime:
    """In UTC, so that a report doesn't depend on where it is made."""
    return datetime.fromtimestamp(at_s, timezone.utc)
