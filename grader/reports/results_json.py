"""results.json: everything that was graded, for programs, and to make the other reports of again.

The file's form is the struct ResultsFile; `python -m grader.reports.results_json` prints it as JSON Schema. `schema` is
its number, which changes when the meaning of a field does. A score's `counted` is the place of the attempt that counts
in `results`, from 0. What ends in `_at_s` is in seconds since 1970, any other `_s` the length of a time in seconds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import msgspec

from grader.batch.records import Gradebook, NotAssigned, Result, Row, Score, Student
from grader.errors import GraderError
from grader.reports.characters import encodable
from grader.submissions.private import PREFIX
from lab.language import _

SCHEMA: Literal[1] = 1


class ResultsUnreadable(GraderError):
    """A results.json that this version can't read."""


class ScoreEntry(msgspec.Struct, frozen=True):
    """A Score, with the place of the attempt that counts instead of the attempt."""

    exercise: str
    points: float
    max_points: int
    status: Literal["passed", "failed", "error", "timeout", "crashed", "unanswered", "missing", "ungraded"]
    attempts: int
    counted: int | None
    late_days: float
    before_lateness: float
    overridden: str | None


class RowEntry(msgspec.Struct, frozen=True):
    """A student's line in the gradebook."""

    student: Student
    points: float
    max_points: int
    scores: list[ScoreEntry]


class ResultsFile(msgspec.Struct, frozen=True):
    """The whole file."""

    schema: Literal[1]
    title: str
    graded_at_s: float
    exercises: list[str]
    rows: list[RowEntry]
    results: list[Result]
    """One for each attempt that was graded."""
    not_assigned: list[NotAssigned]


def results_json(gradebook: Gradebook) -> bytes:
    results = list(gradebook.results)
    places = {id(result): place for place, result in enumerate(results)}
    equal = {_key(result): place for place, result in enumerate(results)}
    rows = []
    for row in gradebook.rows:
        scores = []
        for score in row.scores:
            counted = None
            if score.counted is not None:
                counted = places.get(id(score.counted), equal.get(_key(score.counted)))
                if counted is None or results[counted] != score.counted:
                    counted = len(results)
                    results.append(score.counted)
            scores.append(_entry(score, counted))
        rows.append(RowEntry(row.student, row.points, row.max_points, scores))
    file = ResultsFile(
        SCHEMA, gradebook.title, gradebook.graded_at_s, gradebook.exercises, rows, results, gradebook.not_assigned
    )
    plain = msgspec.to_builtins(file)
    for result in plain["results"]:
        if PREFIX in result["attempt"]["file"]:  # opened from an archive, in a folder that is gone when this is read
            result["attempt"]["file"] = ""
    return msgspec.json.format(msgspec.json.encode(_encodable(plain)), indent=1) + b"\n"


def read_results(path: Path) -> Gradebook:
    """The gradebook that a results.json was made of. Raises ResultsUnreadable."""
    try:
        file = msgspec.json.decode(path.read_bytes(), type=ResultsFile)
        rows = [
            Row(row.student, [_score(entry, file.results) for entry in row.scores], row.points, row.max_points)
            for row in file.rows
        ]
    except OSError as error:
        raise ResultsUnreadable(_("{path} can't be read: {reason}.", path=path, reason=error.strerror)) from error
    except (msgspec.MsgspecError, IndexError) as error:
        raise ResultsUnreadable(
            _(
                "{path} is no results.json of schema {schema}: {reason}. Grade again.",
                path=path,
                schema=SCHEMA,
                reason=error,
            )
        ) from error
    return Gradebook(file.title, file.exercises, rows, file.results, file.not_assigned, file.graded_at_s)


def schema() -> str:
    """The form of the file as JSON Schema."""
    return json.dumps(msgspec.json.schema(ResultsFile), indent=2)


def _key(result: Result) -> tuple[str, str, int, str]:
    attempt = result.attempt
    return attempt.student, attempt.exercise, attempt.number, attempt.file


def _entry(score: Score, counted: int | None) -> ScoreEntry:
    return ScoreEntry(
        score.exercise,
        score.points,
        score.max_points,
        score.status,
        score.attempts,
        counted,
        score.late_days,
        score.before_lateness,
        score.overridden,
    )


def _score(entry: ScoreEntry, results: list[Result]) -> Score:
    return Score(
        entry.exercise,
        entry.points,
        entry.max_points,
        entry.status,
        entry.attempts,
        results[entry.counted] if entry.counted is not None else None,
        entry.late_days,
        entry.before_lateness,
        entry.overridden,
    )


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [_encodable(each) for each in value]
    if isinstance(value, dict):
        return {key: _encodable(each) for key, each in value.items()}
    return value


if __name__ == "__main__":
    print(schema())
