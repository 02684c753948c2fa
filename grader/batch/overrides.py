"""Points that an instructor sets by hand: kept in a CSV file of their own, so that grading again doesn't undo them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from grader.batch.records import Student
from grader.errors import GraderError
from grader.submissions.roster import Roster, roster_of
from grader.submissions.table import Line, headings, plain, read_table
from lab.language import _, ngettext

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "student": ("student", "student id", "id", "email", "name"),
    "exercise": ("exercise",),
    "points": ("points", "score"),
    "reason": ("reason", "comment", "why"),
    "bonus": ("bonus", "extra credit"),
}
OPTIONAL = ("bonus",)
YES = ("yes", "y", "true", "x", "1", "bonus", "si", "oui", "ja")
"""In the column bonus, without accents."""
NO = ("", "no", "n", "false", "0", "non", "nein")
MOST_TOLD = 10


class OverridesUnreadable(GraderError):
    """The overrides can't all be applied, so none is; the message names the lines."""


class _Wrong(Exception):
    """What is wrong with one line."""


class _Elsewhere(_Wrong):
    """A line may be right, and speaks of a student or an exercise that isn't in this gradebook."""


@dataclass(frozen=True)
class Override:
    """What one line sets."""

    points: Fraction
    reason: str


def read_overrides(
    path: Path,
    students: Sequence[Student],
    exercises: Mapping[str, int],
    *,
    shown: str | None = None,
    left_out: list[str] | None = None,
) -> dict[tuple[str, str], Override]:
    """The overrides by the student's id and the exercise, of which `exercises` says how many points it has.

    `shown` is what messages call the file. With a list `left_out`, lines about students and exercises that aren't in
    this gradebook are told in it; without one they are errors. Raises OverridesUnreadable, or TableUnreadable.
    """
    columns, lines = read_table(path, COLUMNS)
    shown = shown or str(path)
    if missing := [column for column in COLUMNS if column not in columns and column not in OPTIONAL]:
        raise OverridesUnreadable(
            _(
                "{path} has no column {missing}. Its first line is to be student,exercise,points,reason; it is: {line}",
                path=shown,
                missing=", ".join(missing),
                line=headings(path),
            )
        )
    roster = roster_of(students)
    found: dict[tuple[str, str], Override] = {}
    on_line: dict[tuple[str, str], int] = {}
    wrong = []
    for line in lines:
        try:
            key, override = _read(line, roster, exercises)
            if key in found:
                raise _Wrong(_("line {number} sets the same points. Keep one of them.", number=on_line[key]))
            found[key], on_line[key] = override, line.number
        except _Wrong as why:
            told = _("{path}, line {number}: {why}", path=shown, number=line.number, why=why)
            if isinstance(why, _Elsewhere) and left_out is not None:
                left_out.append(told)
            else:
                wrong.append(told)
    if wrong:
        left = len(wrong) - MOST_TOLD
        more = [ngettext("and {n} more line", "and {n} more lines", left)] if left > 0 else []
        raise OverridesUnreadable("\n".join([*wrong[:MOST_TOLD], *more]))
    return found


def _read(line: Line, roster: Roster, exercises: Mapping[str, int]) -> tuple[tuple[str, str], Override]:
    """What a line sets. Raises _Wrong."""
    points, bonus = _points(line["points"]), plain(line["bonus"])
    if points is None:
        raise _Wrong(_("{text!r} are no points. Write a number from 0 on.", text=line["points"]))
    if bonus not in YES + NO:
        raise _Wrong(_("bonus is {text!r}. Write yes, or leave it empty.", text=line["bonus"]))
    if not line["reason"]:
        raise _Wrong(_("there is no reason. Say why; the student reads it."))
    ids = roster.called(line["student"])
    if not ids:
        raise _Elsewhere(_("nobody is {text!r}. Write the student's id.", text=line["student"]))
    if len(ids) > 1:
        raise _Wrong(
            _("{text!r} may be any of {ids}. Write the student's id.", text=line["student"], ids=", ".join(ids[:5]))
        )
    exercise = _exercise(line["exercise"], list(exercises))
    if exercise is None:
        raise _Elsewhere(_("there is no exercise {text!r} in this gradebook.", text=line["exercise"]))
    most = exercises[exercise]
    if points > most and bonus not in YES:
        raise _Wrong(
            _(
                "{exercise} has {most} points, so {text} are more than all. If they are meant as a bonus, add a column "
                "bonus with yes in this line.",
                exercise=exercise,
                most=most,
                text=line["points"],
            )
        )
    return (ids[0], exercise), Override(points, line["reason"])


def _exercise(text: str, known: Sequence[str]) -> str | None:
    """An exercise by its id, or by its name if only one has it."""
    if text in known:
        return text
    named = [each for each in known if each.partition("/")[2] == text]
    return named[0] if len(named) == 1 else None


def _points(text: str) -> Fraction | None:
    return Fraction(text.replace(",", ".")) if re.fullmatch(r"[0-9]{1,6}(?:[.,][0-9]{1,6})?", text) else None
