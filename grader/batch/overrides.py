"""Points that an instructor sets by hand: kept in a CSV file of their own, so that grading again doesn't undo them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from grader.batch.records import Student
from grader.errors import GraderError
from grader.submissions.roster import roster_of
from grader.submissions.table import headings, read_table

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "student": ("student", "student id", "id", "email", "name"),
    "exercise": ("exercise",),
    "points": ("points", "score"),
    "reason": ("reason", "comment", "why"),
}


class OverridesUnreadable(GraderError):
    """The overrides can't all be applied, so none is; the message names the line."""


@dataclass(frozen=True)
class Override:
    """What one line sets."""

    points: Fraction
    reason: str


def read_overrides(
    path: Path, students: Sequence[Student], exercises: Iterable[str]
) -> dict[tuple[str, str], Override]:
    """The overrides by the student's id and the exercise. Raises OverridesUnreadable, or TableUnreadable."""
    columns, lines = read_table(path, COLUMNS)
    if missing := [column for column in COLUMNS if column not in columns]:
        raise OverridesUnreadable(
            f"{path} has no column {' and no column '.join(missing)}. "
            f"Its first line is to be student,exercise,points,reason; it is: {headings(path)}"
        )
    roster, known = roster_of(students), list(exercises)
    found: dict[tuple[str, str], Override] = {}
    on_line: dict[tuple[str, str], int] = {}
    for line in lines:
        here = f"{path}, line {line.number}"
        ids = roster.called(line["student"])
        if len(ids) != 1:
            who = f"{line['student']!r} may be any of {', '.join(ids[:5])}" if ids else f"nobody is {line['student']!r}"
            raise OverridesUnreadable(f"{here}: {who}. Write the student's id.")
        exercise = _exercise(line["exercise"], known)
        if exercise is None:
            raise OverridesUnreadable(f"{here}: there is no exercise {line['exercise']!r} in this gradebook.")
        key = (ids[0], exercise)
        if key in found:
            raise OverridesUnreadable(f"{here}: line {on_line[key]} sets the same points. Keep one of them.")
        points = _points(line["points"])
        if points is None:
            raise OverridesUnreadable(f"{here}: {line['points']!r} are no points. Write a number from 0 on.")
        if not line["reason"]:
            raise OverridesUnreadable(f"{here}: there is no reason. Say why; the student reads it.")
        found[key], on_line[key] = Override(points, line["reason"]), line.number
    return found


def _exercise(text: str, known: Sequence[str]) -> str | None:
    """An exercise by its id, or by its name if only one has it."""
    if text in known:
        return text
    named = [each for each in known if each.partition("/")[2] == text]
    return named[0] if len(named) == 1 else None


def _points(text: str) -> Fraction | None:
    return Fraction(text.replace(",", ".")) if re.fullmatch(r"[0-9]{1,6}(?:[.,][0-9]{1,6})?", text) else None
