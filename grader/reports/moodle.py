"""gradebook-moodle.csv: the points as Moodle imports them, in both of its ways.

As the offline grading worksheet of one assignment (View all submissions, Upload grading worksheet), Moodle asks for the
columns Identifier, Grade and "Last modified (grade)", and takes Grade, the sum, and Feedback comments; the assignment's
maximum grade has to be that of the course. As grades of the whole course (Grades, Import, CSV file), it finds a student
by "Email address" or "ID number" and takes any column that is mapped, such as those of the exercises, the last ones.

The names of the columns are those of an English Moodle; another one asks for its own words in the first line.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from grader.batch.records import Gradebook, Row
from grader.reports.characters import one_line
from grader.reports.csv_cells import STARTS_A_FORMULA, Cell, as_csv
from grader.reports.scores import has_points, scores_of
from grader.reports.words import Words

COLUMNS = (
    "Identifier",
    "Full name",
    "ID number",
    "Email address",
    "Status",
    "Grade",
    "Maximum Grade",
    "Grade can be changed",
    "Last modified (submission)",
    "Last modified (grade)",
    "Feedback comments",
)
_COULD_START_A_FORMULA = re.compile(rf"(?:^|[;\s])[{STARTS_A_FORMULA}]+")


def moodle_csv(gradebook: Gradebook, words: Words) -> bytes:
    """No byte order mark: Moodle reads UTF-8."""
    return as_csv(_rows(gradebook, words))


def _rows(gradebook: Gradebook, words: Words) -> Iterator[list[Cell]]:
    yield [*COLUMNS, *gradebook.exercises]
    for row in gradebook.rows:
        scores = scores_of(row)
        student = row.student
        in_order = [scores.get(exercise) for exercise in gradebook.exercises]
        complete = all(has_points(score) for score in row.scores)
        handed_in = any(score.attempts for score in row.scores)
        yield [
            f"Participant {student.lms_id}" if student.lms_id else "",
            student.name or student.id,
            student.id,
            student.email,
            "Submitted for grading" if handed_in else "No submission",
            row.points if complete else None,  # no grade rather than a wrong one
            row.max_points,
            "Yes",
            "-",
            "-",  # Moodle then replaces no grade that was given later, unless it is told to
            feedback_comment(row, words),
            *(score.points if score is not None and has_points(score) else None for score in in_order),
        ]


def feedback_comment(row: Row, words: Words) -> str:
    """The points of each exercise in a line of HTML, which Moodle takes comments for."""
    lines = []
    for score in row.scores:
        status = words(f"status.{score.status}")
        points = f"{words.number(score.points)}/{score.max_points}, {status}" if has_points(score) else status
        days = words.number(score.late_days)
        late = f", {words.count('late.short', score.late_days, days=days)}" if score.late_days > 0 else ""
        reason = f" ({score.overridden})" if score.overridden else ""
        lines.append(_as_html(f"{score.exercise}: {points}{late}{reason}"))
    return "<br>".join(lines)


def _as_html(text: str) -> str:
    """Escaped, and what a spreadsheet could take for the begin of a formula written by its number."""
    return _COULD_START_A_FORMULA.sub(_by_number, html.escape(one_line(text)))


def _by_number(found: re.Match[str]) -> str:
    return "".join(f"&#{ord(c)};" if not (c.isspace() or c == ";") else c for c in found[0])
