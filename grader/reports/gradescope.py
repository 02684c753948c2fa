"""gradescope/<student>.json: a student's results as Gradescope shows them, the results.json of an autograder."""

from __future__ import annotations

from typing import Any

import msgspec

from grader.batch.records import Row, Score
from grader.reports.characters import plain
from grader.reports.scores import has_points, told_before, verdict_of, why_changed
from grader.reports.words import Words
from grader.verdict import CheckResult


def gradescope_json(row: Row, words: Words) -> bytes:
    return msgspec.json.format(msgspec.json.encode(gradescope(row, words)), indent=1) + b"\n"


def gradescope(row: Row, words: Words) -> dict[str, Any]:
    """`score` is the sum after lateness and overrides; Gradescope takes it before the sum of the tests."""
    tests = []
    for place, score in enumerate(row.scores, 1):
        verdict = verdict_of(score)
        if verdict is None:
            tests.append(_without_verdict(place, score, words))
            continue
        again = told_before(verdict)
        for part, (check, known) in enumerate(zip(verdict.checks, again, strict=True), 1):
            tests.append(_test(f"{place}.{part}", score, check, known, words))
    durations = (score.counted.duration_s for score in row.scores if score.counted is not None)
    return {
        "score": round(row.points, 2),
        "execution_time": round(sum(durations)),
        "output": "\n".join(_changes(row, words)),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def _test(place: str, score: Score, check: CheckResult, known: bool, words: Words) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": plain(f"{score.exercise}: {check.name}"),
        "number": place,
        "score": check.points,
        "max_score": check.max_points,
        "status": "passed" if check.passed else "failed",
        "output": words("check.same_reason") if known else plain(check.message or ""),
        "output_format": "text",
        "visibility": "visible",
    }
    if score.counted is not None:
        test["extra_data"] = {"seed": score.counted.seed, "mistake": check.mistake}
    return test


def _without_verdict(place: int, score: Score, words: Words) -> dict[str, Any]:
    return {
        "name": plain(score.exercise),
        "number": str(place),
        "score": score.points,
        "max_score": score.max_points,
        "status": "passed" if score.overridden is not None and score.points >= score.max_points else "failed",
        "output": words(f"explained.{score.status}") if score.status in ("missing", "ungraded") else "",
        "output_format": "text",
        "visibility": "visible",
    }


def _changes(row: Row, words: Words) -> list[str]:
    """Why the score isn't the sum of the tests."""
    lines = []
    for score in row.scores:
        lines += [f"{score.exercise}: {why}" for why in why_changed(score, words)]
        if not has_points(score):
            lines.append(f"{score.exercise}: {words('explained.ungraded')}")
    return lines
