"""Finds failures that look like the machine's, not the students'."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from grader.batch.records import Gradebook, Result
from grader.reports.scores import verdict_of

FEWEST_IN_A_ROW = 4
FEWEST_TIMEOUTS = 3
SHARE_OF_TIMEOUTS = 0.2


@dataclass(frozen=True)
class Streak:
    """Runs one after another, of several students, that all crashed or ran out of time."""

    runs: int
    students: int
    first_at_s: float
    last_at_s: float


@dataclass(frozen=True)
class Timeouts:
    """An exercise that unusually many students ran out of time with."""

    exercise: str
    timed_out: int
    students: int


def streaks(gradebook: Gradebook) -> Iterator[Streak]:
    """In the order in which they were graded; a single student's many attempts are no streak."""
    in_order = sorted(gradebook.results, key=lambda each: (each.graded_at_s, each.attempt.student))
    current: list[Result] = []
    for result in [*in_order, None]:
        if result is not None and _may_be_the_machine(result):
            current.append(result)
            continue
        students = {each.attempt.student for each in current}
        if len(current) >= FEWEST_IN_A_ROW and len(students) > 2:
            yield Streak(len(current), len(students), current[0].graded_at_s, current[-1].graded_at_s)
        current = []


def many_timeouts(gradebook: Gradebook) -> Iterator[Timeouts]:
    """Of the attempts that count."""
    tried, timed_out = Counter[str](), Counter[str]()
    for row in gradebook.rows:
        for score in row.scores:
            verdict = verdict_of(score)
            if verdict is not None:
                tried[score.exercise] += 1
                timed_out[score.exercise] += verdict.status == "timeout"
    for exercise in gradebook.exercises:
        number = timed_out[exercise]
        if number >= FEWEST_TIMEOUTS and number >= SHARE_OF_TIMEOUTS * tried[exercise]:
            yield Timeouts(exercise, number, tried[exercise])


def _may_be_the_machine(result: Result) -> bool:
    return result.verdict is None or result.verdict.status in ("crashed", "timeout")
