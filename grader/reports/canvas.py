"""gradebook-canvas.csv: the points as Canvas imports them (Grades, Import).

Canvas asks for the columns Student, ID, SIS User ID, SIS Login ID and Section in this order, and for a second line that
begins with "Points Possible". It looks for a student by ID, then by the SIS columns, then by name; for an assignment by
the name of its column, and offers to make one. An empty cell leaves the grade that is there.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.batch.records import Gradebook
from grader.reports.csv_cells import Cell, as_csv
from grader.reports.scores import has_points, scores_of

COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def canvas_csv(gradebook: Gradebook) -> bytes:
    """No byte order mark: Canvas reads UTF-8 and would take the mark for a part of the first column's name."""
    return as_csv(_rows(gradebook))


def _rows(gradebook: Gradebook) -> Iterator[list[Cell]]:
    possible = {score.exercise: score.max_points for row in gradebook.rows for score in row.scores}
    yield [*COLUMNS, *gradebook.exercises]
    yield ["    Points Possible", "", "", "", "", *(possible.get(exercise) for exercise in gradebook.exercises)]
    for row in gradebook.rows:
        scores = scores_of(row)
        student = row.student
        cells = (scores.get(exercise) for exercise in gradebook.exercises)
        yield [
            student.name or student.id,
            student.lms_id,
            student.id,
            student.login or student.email or student.id,
            student.section,
            *(score.points if score is not None and has_points(score) else None for score in cells),
        ]
