"""Grades what one student handed in, and writes the results.json that Gradescope shows."""

from __future__ import annotations

import json
import secrets
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import time
from typing import Any

import msgspec

from grader.batch.grade import Checker, Settings, grade
from grader.batch.ledger import Ledger
from grader.batch.points import gradebook
from grader.batch.records import Attempt, Found, Result, Student
from grader.reports.gradescope import gradescope
from grader.reports.words import Words
from grader.seeds import SEEDS
from grader.submissions.find import find_of_one
from lab.language import N_, _, ngettext

STUDENT = Student("student")
MOST_FILES = 4
"""For one exercise; whoever hands in more tries many answers at once."""
FAILED = N_("The autograder failed, which is no fault of your submission. Tell your instructor.")


class Assignment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What counts, as `grader release` writes it."""

    points: dict[str, int]
    unsafe: bool = False
    """Whether submissions may be run without being kept apart."""


def autograde(submission: Path, assignment: Path, out: Path, checkers: Sequence[Checker] | None = None) -> int:
    """Write the results, whatever happens; returns an exit code."""
    code = 0
    try:
        counts = msgspec.json.decode(assignment.read_bytes(), type=Assignment)
        with tempfile.TemporaryDirectory(prefix="profile-first-") as folder:
            found = find_of_one(submission, STUDENT, into=Path(folder) / "opened")
            chosen = _chosen(found, counts.points)
            settings = Settings(jobs=1, shut_in=not counts.unsafe)
            with Ledger(Path(folder) / "ledger", secrets.randbelow(SEEDS)) as ledger:
                results = grade(chosen, ledger, settings, checkers=checkers)
            written = _written(found, counts.points, results)
    except Exception:
        traceback.print_exc()  # Gradescope shows it to the instructor
        written, code = {"score": 0, "output": _(FAILED), "stdout_visibility": "hidden", "tests": []}, 1
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return code


def _chosen(found: Found, points: Mapping[str, int]) -> list[Attempt]:
    """The attempts to grade: of each exercise that counts the latest few."""
    by_exercise: dict[str, list[Attempt]] = {exercise: [] for exercise in points}
    for attempt in found.attempts:
        if attempt.exercise in by_exercise:
            by_exercise[attempt.exercise].append(attempt)
    return [attempt for attempts in by_exercise.values() for attempt in attempts[-MOST_FILES:]]


def _written(found: Found, points: Mapping[str, int], results: list[Result]) -> dict[str, Any]:
    book = gradebook(found, results, exercises=points, title="", graded_at_s=time())
    written = gradescope(book.rows[0], Words())
    notes = [_("{name}: {detail}", name=each.shown, detail=each.why) for each in found.not_assigned]
    notes += [
        ngettext(
            "{exercise} was handed in {n} time; the last {most} were graded.",
            "{exercise} was handed in {n} times; the last {most} were graded.",
            count,
            exercise=exercise,
            most=MOST_FILES,
        )
        for exercise in points
        if (count := sum(each.exercise == exercise for each in found.attempts)) > MOST_FILES
    ]
    return {**written, "output": "\n".join([*filter(None, [written["output"]]), *notes])}
