"""Grades what one student handed in, and writes the results.json that Gradescope shows."""

from __future__ import annotations

import hashlib
import json
import tempfile
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic, time
from typing import Any

from grader.batch.points import gradebook
from grader.batch.records import Attempt, Found, Result, Student
from grader.errors import GraderError
from grader.reports.gradescope import gradescope
from grader.reports.words import Words
from grader.submissions.find import find_of_one
from grader.verdict import Verdict

STUDENT = Student("student")
MOST_FILES = 4
"""For one exercise; whoever hands in more tries many answers at once."""
FAILED = "The autograder failed, which is no fault of your submission. Tell your instructor."
Check = Callable[[str, Path], Verdict]


def autograde(submission: Path, assignment: Path, out: Path, check: Check | None = None) -> int:
    """Write the results, whatever happens; returns an exit code."""
    code = 0
    try:
        points = read_assignment(assignment)
        with tempfile.TemporaryDirectory(prefix="profile-first-") as opened:
            found = find_of_one(submission, STUDENT, into=Path(opened))
            results = _graded(found, points, check)
            written = _written(found, points, results)
    except Exception:
        traceback.print_exc()  # Gradescope keeps it for the instructor
        written, code = {"score": 0, "output": FAILED, "stdout_visibility": "hidden", "tests": []}, 1
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return code


def read_assignment(path: Path) -> dict[str, int]:
    """The exercises that count, with the points of each."""
    points: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))["points"]
    return points


def _graded(found: Found, points: Mapping[str, int], check: Check | None) -> list[Result]:
    attempts = [each for each in found.attempts if each.exercise in points]
    latest: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        latest.setdefault(attempt.exercise, []).append(attempt)
    chosen = [attempt for group in latest.values() for attempt in group[-MOST_FILES:]]
    if check is not None:
        return [_result(attempt, check) for attempt in chosen]
    from grader.check import check as check_file
    from grader.runner.warm import open_runner

    if not chosen:
        return []
    with open_runner() as runner:
        return [_result(each, lambda exercise, file: check_file(exercise, file, runner=runner)) for each in chosen]


def _result(attempt: Attempt, check: Check) -> Result:
    from grader.check import course_version

    file = Path(attempt.file)
    began_s, verdict, trouble = monotonic(), None, None
    try:
        verdict = check(attempt.exercise, file)
    except GraderError as error:
        traceback.print_exc()
        trouble = str(error)
    return Result(
        attempt=attempt,
        source_sha256=verdict.source_sha256 if verdict else hashlib.sha256(file.read_bytes()).hexdigest(),
        seed=verdict.seed if verdict else 0,
        course_version=course_version(),
        isolation=[],
        graded_at_s=time(),
        duration_s=round(monotonic() - began_s, 3),
        verdict=verdict,
        trouble=trouble,
    )


def _written(found: Found, points: Mapping[str, int], results: list[Result]) -> dict[str, Any]:
    book = gradebook(found, results, exercises=points, title="", graded_at_s=time())
    written = gradescope(book.rows[0], Words())
    notes = [f"{each.shown}: {each.why}" for each in found.not_assigned]
    notes += [
        f"{exercise} was handed in {count} times; the last {MOST_FILES} were graded."
        for exercise in points
        if (count := sum(each.exercise == exercise for each in found.attempts)) > MOST_FILES
    ]
    return {**written, "output": "\n".join([*filter(None, [written["output"]]), *notes])}
