"""gradebook.csv: a line for each student, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator

from grader.batch.records import Gradebook, Row
from grader.reports.csv_cells import Cell, as_csv, number
from grader.reports.scores import has_points, scores_of

COLUMNS = ("student", "name", "email", "section", "points", "max_points", "percent")


def gradebook_csv(gradebook: Gradebook) -> bytes:
    """The points of each exercise, then how each ended, then what changed the points: lateness, and the instructor.

    Begins with a byte order mark: without it, Excel takes UTF-8 for the code page of the country.
    """
    return as_csv(_rows(gradebook), mark=True)


def _rows(gradebook: Gradebook) -> Iterator[list[Cell]]:
    statuses = [f"{exercise} status" for exercise in gradebook.exercises]
    yield [*COLUMNS, *gradebook.exercises, *statuses, "late", "overridden", "attempts"]
    for row in gradebook.rows:
        scores = scores_of(row)
        in_order = [scores.get(exercise) for exercise in gradebook.exercises]
        student = row.student
        yield [
            student.id,
            student.name,
            student.email,
            student.section,
            row.points,
            row.max_points,
            round(100 * row.points / row.max_points, 1) if row.max_points else None,
            *(score.points if score is not None and has_points(score) else None for score in in_order),
            *(score.status if score is not None else None for score in in_order),
            _late(row),
            _overridden(row),
            sum(score.attempts for score in row.scores),
        ]


def _late(row: Row) -> str:
    return "; ".join(
        f"{score.exercise}: {number(score.late_days)} days, {number(score.before_lateness)} points before"
        for score in row.scores
        if score.late_days > 0
    )


def _overridden(row: Row) -> str:
    return "; ".join(f"{score.exercise}: {score.overridden}" for score in row.scores if score.overridden is not None)
