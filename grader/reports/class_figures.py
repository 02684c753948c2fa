"""What an instructor wants to know of a class, counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean, median

from grader.batch.records import Gradebook, Row
from grader.mistakes import title
from grader.reports.scores import has_points, verdicts, was_tried

BINS = 10


@dataclass(frozen=True)
class ExerciseFigures:
    """How an exercise went, of those who handed it in and whose submission could be graded."""

    exercise: str
    tried: int
    passed: int
    mean_points: float
    max_points: int
    ended_early: int
    late: int

    @property
    def share(self) -> float:
        return self.passed / self.tried if self.tried else 0.0


@dataclass(frozen=True)
class CheckFigures:
    """How a check went, in the attempts that count."""

    exercise: str
    name: str
    tried: int
    passed: int

    @property
    def share(self) -> float:
        return self.passed / self.tried if self.tried else 0.0


@dataclass(frozen=True)
class MistakeFigures:
    """How many students made a known mistake."""

    id: str
    title: str
    exercises: tuple[str, ...]
    made: int
    """In any attempt."""
    tried: int
    """How many handed in one of these exercises."""
    still: int
    """In the attempt that counts."""


def exercises(gradebook: Gradebook) -> list[ExerciseFigures]:
    figures = []
    for exercise in gradebook.exercises:
        scores = [score for row in gradebook.rows for score in row.scores if score.exercise == exercise]
        tried = [score for score in scores if was_tried(score)]
        figures.append(
            ExerciseFigures(
                exercise,
                tried=len(tried),
                passed=sum(score.status == "passed" for score in tried),
                mean_points=fmean(score.points for score in tried) if tried else 0.0,
                max_points=max((score.max_points for score in scores), default=0),
                ended_early=sum(score.status in ("error", "timeout", "crashed") for score in tried),
                late=sum(score.late_days > 0 for score in tried),
            )
        )
    return figures


def checks(gradebook: Gradebook) -> list[CheckFigures]:
    """The hardest first; those that went alike in the order of the course."""
    tried: dict[tuple[str, str], list[bool]] = {}
    for _, score, verdict in verdicts(gradebook):
        for check in verdict.checks:
            tried.setdefault((score.exercise, check.name), []).append(check.passed)
    order = {exercise: place for place, exercise in enumerate(gradebook.exercises)}
    in_order = sorted(tried.items(), key=lambda item: order.get(item[0][0], len(order)))
    figures = [CheckFigures(exercise, name, len(passed), sum(passed)) for (exercise, name), passed in in_order]
    return sorted(figures, key=lambda each: each.share)


def mistakes(gradebook: Gradebook) -> list[MistakeFigures]:
    """The commonest first."""
    made: dict[str, set[str]] = defaultdict(set)
    where: dict[str, set[str]] = defaultdict(set)
    still: dict[str, set[str]] = defaultdict(set)
    tried: dict[str, set[str]] = defaultdict(set)
    for result in gradebook.results:
        if result.verdict is None:
            continue
        tried[result.verdict.exercise].add(result.attempt.student)
        for check in result.verdict.checks:
            if check.mistake is not None and not check.passed:
                made[check.mistake].add(result.attempt.student)
                where[check.mistake].add(result.verdict.exercise)
    for row, _, verdict in verdicts(gradebook):
        for check in verdict.checks:
            if check.mistake is not None and not check.passed:
                still[check.mistake].add(row.student.id)
    figures = [
        MistakeFigures(
            id=mistake,
            title=title(mistake),
            exercises=tuple(sorted(where[mistake])),
            made=len(students),
            tried=len(set[str]().union(*(tried[exercise] for exercise in where[mistake]))),
            still=len(still[mistake]),
        )
        for mistake, students in made.items()
    ]
    return sorted(figures, key=lambda each: (-each.made, -each.still, each.id))


def percent_of(row: Row) -> float:
    return 100 * row.points / row.max_points if row.max_points else 0.0


def handed_in(gradebook: Gradebook) -> list[Row]:
    """The students who handed in something, or whose points the instructor set."""
    return [row for row in gradebook.rows if any(_has_something(row))]


def distribution(gradebook: Gradebook) -> list[int]:
    """How many of them have up to 10 % of the points, up to 20 %, and so on; 100 % belongs to the last."""
    bins = [0] * BINS
    for row in handed_in(gradebook):
        bins[min(max(int(percent_of(row) * BINS / 100), 0), BINS - 1)] += 1
    return bins


def mean_percent(gradebook: Gradebook) -> float | None:
    return fmean(map(percent_of, rows)) if (rows := handed_in(gradebook)) else None


def median_percent(gradebook: Gradebook) -> float | None:
    return median(map(percent_of, rows)) if (rows := handed_in(gradebook)) else None


def _has_something(row: Row) -> Iterator[bool]:
    return (score.attempts > 0 or (score.overridden is not None and has_points(score)) for score in row.scores)
