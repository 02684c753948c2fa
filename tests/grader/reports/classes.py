"""Classes to report on, made of verdicts that the grader gave on the submissions in this folder's neighbour."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from pathlib import Path

import msgspec

from grader.batch.records import Attempt, Gradebook, NotAssigned, Result, Row, Score, Student
from grader.verdict import CheckResult, Verdict

VERDICTS = msgspec.json.decode(Path(__file__).with_name("verdicts.json").read_bytes(), type=list[Verdict])
EXERCISES = list(dict.fromkeys(verdict.exercise for verdict in VERDICTS))
BY_EXERCISE: dict[str, list[Verdict]] = defaultdict(list)
for _verdict in VERDICTS:
    BY_EXERCISE[_verdict.exercise].append(_verdict)
GRADED_AT_S = 1_780_000_000.0
FIRST = [
    "Ada",
    "Grace",
    "Björn",
    "José María",
    "Nuño",
    "Zoë",
    "Łukasz",
    "李",
    "Oluwaseun",
    "Şebnem",
    "Ngọc",
    "Anne-Marie",
]
LAST = ["Lovelace", "Hopper", "Müller", 'O"Brien', "García, Jr.", "Weiß", "Đặng", "=SUM(A1)", "van der Berg", "Ivanov"]
SOLUTION = "import time\n\n\ndef time_one_batch(loop):\n    batch = loop.load()\n    began = time.perf_counter()\n"


def student(number: int = 1, **fields: str) -> Student:
    name = f"{LAST[number % len(LAST)]} {FIRST[number % len(FIRST)]}"
    ours = {"id": f"s{number:04}", "name": name, "email": f"s{number:04}@example.edu", "lms_id": str(90_000 + number)}
    return Student(**{**ours, "section": "AB"[number % 2], **fields})


def result(verdict: Verdict | None, **fields: object) -> Result:
    """What came of an attempt at the verdict's exercise."""
    exercise = str(fields.pop("exercise", verdict.exercise if verdict is not None else EXERCISES[0]))
    attempt = Attempt(
        student=str(fields.pop("student", "s0001")),
        exercise=exercise,
        file=str(fields.pop("file", "/nowhere/x.py")),
        shown=str(fields.pop("shown", f"s0001/{exercise}.py")),
        handed_in_at_s=GRADED_AT_S - 86_400,
        number=int(str(fields.pop("number", 1))),
    )
    given: dict[str, object] = {
        "source_sha256": verdict.source_sha256 if verdict is not None else "0" * 64,
        "seed": 7,
        "course_version": "0.1.0",
        "isolation": ["bubblewrap", "seccomp"],
        "graded_at_s": GRADED_AT_S,
        "duration_s": 1.5,
        "verdict": verdict,
    }
    return Result(attempt, **{**given, **fields})  # type: ignore[arg-type]


def score(counted: Result | None, **fields: object) -> Score:
    """A score without lateness or anything else that changes the points."""
    verdict = counted.verdict if counted is not None else None
    given: dict[str, object] = {
        "exercise": counted.attempt.exercise if counted is not None else EXERCISES[0],
        "points": float(verdict.points) if verdict is not None else 0.0,
        "max_points": verdict.max_points if verdict is not None else 5,
        "status": verdict.status if verdict is not None else "missing" if counted is None else "ungraded",
        "attempts": 0 if counted is None else 1,
        "counted": counted,
        "before_lateness": float(verdict.points) if verdict is not None else 0.0,
    }
    return Score(**{**given, **fields})  # type: ignore[arg-type]


def row(who: Student, *scores: Score) -> Row:
    return Row(who, list(scores), sum(each.points for each in scores), sum(each.max_points for each in scores))


def gradebook(*rows: Row, **fields: object) -> Gradebook:
    exercises = list(dict.fromkeys(score.exercise for row in rows for score in row.scores))
    results = [score.counted for row in rows for score in row.scores if score.counted is not None]
    given: dict[str, object] = {
        "title": "Profiling, spring",
        "exercises": exercises,
        "rows": list(rows),
        "results": results,
        "not_assigned": [],
        "graded_at_s": GRADED_AT_S,
    }
    return Gradebook(**{**given, **fields})  # type: ignore[arg-type]


def verdict_saying(text: str, passed: bool = False, mistake: str | None = None) -> Verdict:
    """A verdict with a name and a message of this text."""
    check = CheckResult(text, passed, 2 if passed else 0, 2, text, mistake)
    status = "passed" if passed else "failed"
    return Verdict(EXERCISES[0], status, check.points, 2, [check], None, 7, 1.0, "0" * 64, "0.1.0")


UNANSWERED = Verdict(
    "synchronize/quiz", "unanswered", 0, 3, [CheckResult("Which?", False, 0, 3, "Not answered.")], None, 7, 0.1, "", "1"
)


def class_of(size: int, folder: Path | None = None) -> Gradebook:
    """A class in which about everything happens that happens in one; sources lie in `folder`, if there is one."""
    draw = random.Random(size)
    rows, results = [], list[Result]()
    for number in range(1, size + 1):
        who = student(number)
        scores = []
        for exercise in EXERCISES:
            if draw.random() < 0.08 or number == size:
                scores.append(score(None, exercise=exercise, max_points=BY_EXERCISE[exercise][0].max_points))
                continue
            attempts = _attempts(draw, who, exercise, folder, len(results))
            results += attempts
            scores.append(_best(draw, attempts))
        rows.append(row(who, *scores))
    strays = [NotAssigned("upload/IMG_2041.heic", "no exercise is called so, and it is neither .py, .ipynb nor .toml")]
    return gradebook(*rows, results=results, exercises=EXERCISES, not_assigned=strays)


def _attempts(draw: random.Random, who: Student, exercise: str, folder: Path | None, done: int) -> list[Result]:
    found = []
    for number in range(1, draw.choice((1, 1, 1, 2, 3)) + 1):
        verdict = draw.choice(BY_EXERCISE[exercise] if draw.random() < 0.6 else BY_EXERCISE[exercise][:1])
        source = _source(draw, exercise, verdict)
        file = folder / f"{who.id}-{exercise.replace('/', '-')}-{number}.py" if folder is not None else None
        if file is not None:
            file.write_text(source, encoding="utf-8")
        broken = draw.random() < 0.01
        found.append(
            result(
                None if broken else verdict,
                exercise=exercise,
                student=who.id,
                file=str(file or "/nowhere/x.py"),
                shown=f"{who.id}/{exercise}.py",
                number=number,
                source_sha256=hashlib.sha256(source.encode()).hexdigest(),
                graded_at_s=GRADED_AT_S + done + number,
                duration_s=round(draw.uniform(0.3, 2.0), 3),
                trouble="The sandbox could not be started: no space left on device." if broken else None,
                look=["reads /proc (line 3)"] if draw.random() < 0.01 else [],
            )
        )
    return found


def _source(draw: random.Random, exercise: str, verdict: Verdict) -> str:
    """Mostly one's own, sometimes another's with other names and comments, rarely the very same."""
    own = draw.choice(["began", "start", "t0"]) if draw.random() < 0.5 else f"began_{draw.randrange(10**6)}"
    comment = f"# {verdict.status}\n" if draw.random() < 0.5 else ""
    lines = "".join(f"    total += step({draw.randrange(100)})\n" for _ in range(draw.randrange(1, 5)))
    name = exercise.partition("/")[2]
    return f"{comment}import time\n\n\ndef {name}(step):\n    {own} = total = 0\n{lines}    return {own}\n"


def _best(draw: random.Random, attempts: list[Result]) -> Score:
    best = max(attempts, key=lambda each: -1 if each.verdict is None else each.verdict.points)
    plain = score(best, attempts=len(attempts))
    if best.verdict is None:
        return msgspec.structs.replace(plain, max_points=BY_EXERCISE[best.attempt.exercise][0].max_points)
    if draw.random() < 0.1:
        return msgspec.structs.replace(plain, late_days=1.5, points=round(plain.points * 0.85, 2))
    if draw.random() < 0.03:
        return msgspec.structs.replace(
            plain, points=float(plain.max_points), overridden="Showed it at the blackboard, see mail of 3 May"
        )
    return plain
