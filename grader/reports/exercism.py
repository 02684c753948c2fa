"""exercism/<student>/<exercise>.json: the verdict on one exercise as exercism's tools read it, version 3.

`test_code` is left out: it would show the hidden inputs. `output` is too: what a submission prints is not kept.
"""

from __future__ import annotations

from typing import Any

import msgspec

from grader.batch.records import Score
from grader.reports.characters import plain
from grader.reports.scores import verdict_of
from grader.reports.words import Words
from grader.verdict import Verdict

VERSION = 3
MAX_MESSAGE = 65_535  # bytes, as far as exercism's interface shows a message


def exercism_json(score: Score, words: Words) -> bytes | None:
    """None where nothing was handed in."""
    if score.counted is None and score.status != "ungraded":
        return None
    return msgspec.json.format(msgspec.json.encode(exercism(score, words)), indent=1) + b"\n"


def exercism(score: Score, words: Words) -> dict[str, Any]:
    verdict = verdict_of(score)
    if verdict is None:
        return {"version": VERSION, "status": "error", "message": words("explained.ungraded"), "tests": []}
    tests = _tests(verdict)
    status = _status(verdict, tests)
    messages = [test["message"] for test in tests if test["message"]]
    said = (messages[0] if messages else words(f"status.{verdict.status}")) if status == "error" else None
    return {"version": VERSION, "status": status, "message": said, "tests": tests}


def _tests(verdict: Verdict) -> list[dict[str, Any]]:
    ended_early = verdict.status in ("error", "timeout", "crashed")
    return [
        {
            "name": plain(check.name),
            "status": "pass" if check.passed else "error" if ended_early else "fail",
            "message": None if check.passed else _short(plain(check.message or verdict.status)),
        }
        for check in verdict.checks
    ]


def _status(verdict: Verdict, tests: list[dict[str, Any]]) -> str:
    """An error only where no test went well: with some that passed, exercism speaks of a failure."""
    if verdict.status == "passed":
        return "pass"
    return "error" if all(test["status"] == "error" for test in tests) else "fail"


def _short(text: str) -> str:
    data = text.encode()
    return text if len(data) <= MAX_MESSAGE else f"{data[: MAX_MESSAGE - 3].decode('utf-8', 'ignore')}…"
