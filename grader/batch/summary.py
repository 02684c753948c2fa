"""What the command `grade` says at its end: what was graded, what wasn't, and which files to open."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.feedback import printable
from lab.language import _, ngettext

if TYPE_CHECKING:
    from grader.batch.given import Given
    from grader.batch.progress_bar import ProgressBar
    from grader.batch.records import Found, Gradebook, Result, Score

MOST_NAMED = 8


def as_json(
    book: Gradebook,
    found: Found,
    results: Sequence[Result],
    *,
    seed: int,
    counted: ProgressBar,
    out: Path,
    given: Mapping[str, Given],
) -> str:
    return json.dumps(
        {
            "students": len(book.rows),
            "exercises": len(book.exercises),
            "graded": counted.graded,
            "kept": counted.kept,
            "not_graded": len(_not_graded(results)),
            "to_look_at": len(_to_look_at(results)),
            "not_assigned": len(found.not_assigned),
            "missing": len(found.missing),
            "seed": seed,
            "results": str(out),
            **{option: each.source for option, each in given.items()},
        }
    )


def as_text(
    book: Gradebook, found: Found, results: Sequence[Result], *, seed: int, counted: ProgressBar, out: Path
) -> Iterator[str]:
    students = ngettext("{n} student", "{n} students", len(book.rows))
    exercises = ngettext("{n} exercise", "{n} exercises", len(book.exercises))
    yield _("{students}, {exercises}, seed {seed}.", students=students, exercises=exercises, seed=seed)
    yield _("Graded now: {now}; kept from before: {kept}.", now=counted.graded, kept=counted.kept)
    if set_by_hand := sum(score.overridden is not None for row in book.rows for score in row.scores):
        yield ngettext("Set by hand: {n} score.", "Set by hand: {n} scores.", set_by_hand)
    if late := sum(_costs_points(score) for row in book.rows for score in row.scores):
        yield ngettext(
            "Late: {n} score has fewer points for it. When each was handed in stands in results.json.",
            "Late: {n} scores have fewer points for it. When each was handed in stands in results.json.",
            late,
        )
    not_graded = _not_graded(results)
    for result in not_graded[:MOST_NAMED]:
        shown, why = printable(result.attempt.shown), printable(result.trouble or "")
        yield _("Not graded: {shown}: {why}", shown=shown, why=why)
    if (left := len(not_graded) - MOST_NAMED) > 0:
        yield ngettext("Not graded: {n} more, see class.html.", "Not graded: {n} more, see class.html.", left)
    yield from not_assigned(found)
    if found.missing:
        yield ngettext(
            "Nothing was handed in by {n} student of the roster.",
            "Nothing was handed in by {n} students of the roster.",
            len(found.missing),
        )
    yield from _to_open(book, found, results, out)


def not_assigned(found: Found) -> Iterator[str]:
    """The first files that belong to nobody or to nothing, and how many more there are."""
    for refused in found.not_assigned[:MOST_NAMED]:
        yield _("Not assigned: {shown}: {why}", shown=printable(refused.shown), why=printable(refused.why))
    if (left := len(found.not_assigned) - MOST_NAMED) > 0:
        yield ngettext(
            "Not assigned: {n} more, see not-assigned.csv.", "Not assigned: {n} more, see not-assigned.csv.", left
        )


def _to_open(book: Gradebook, found: Found, results: Sequence[Result], out: Path) -> Iterator[str]:
    """Which of the many files an instructor wants now."""
    to_look_at = _to_look_at(results)
    yield ""
    yield _("To open:")
    yield from _columns(
        [
            (out / "class.html", _("the class: distribution, exercises, mistakes, what to look at first")),
            (out / "gradebook.csv", _("the points; gradebook-moodle.csv and gradebook-canvas.csv to be imported")),
            (out / "students", _("feedback for each student")),
            *([(out / "not-assigned.csv", _("files that belong to nobody"))] if found.not_assigned else []),
        ]
    )
    if to_look_at:
        yield ""
        yield ngettext(
            "To read by hand: {n} file, with its reason in class.html.",
            "To read by hand: {n} files, with their reasons in class.html.",
            len(to_look_at),
        )
        for result in to_look_at[:MOST_NAMED]:
            yield f"  {printable(result.attempt.shown)}"
        if (left := len(to_look_at) - MOST_NAMED) > 0:
            yield "  " + ngettext("and {n} more", "and {n} more", left)


def _columns(rows: Iterable[tuple[Path, str]]) -> Iterator[str]:
    shown = [(str(path), text) for path, text in rows]
    width = max(len(path) for path, _text in shown)
    return (f"  {path:<{width}}  {text}" for path, text in shown)


def _costs_points(score: Score) -> bool:
    return score.late_days > 0 and score.overridden is None and score.points < score.before_lateness


def _not_graded(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.verdict is None]


def _to_look_at(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.look or (result.trouble and result.verdict is not None)]
