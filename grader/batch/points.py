"""Makes the gradebook of a class from the results of all attempts, by a policy and the instructor's overrides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from grader.batch.overrides import Override
from grader.batch.policy import Policy, insist_on_known
from grader.batch.records import Attempt, Found, Gradebook, Result, Row, Score, Student
from grader.check import CHECKS, exercise_ids
from grader.errors import UnknownExercise
from grader.lint.checks import points_of
from grader.quiz import SOLUTIONS, quiz_ids, read_answers
from grader.verdict import Verdict
from lab.language import _


def max_points(exercises: Iterable[str], checks: Path = CHECKS, solutions: Path = SOLUTIONS) -> dict[str, int]:
    """The points that there are to earn for each exercise."""
    quizzes = set(quiz_ids())
    found = {}
    for exercise in exercises:
        lesson, _slash, name = exercise.partition("/")
        if exercise in quizzes:
            points: int | None = sum(answer.points for answer in read_answers(lesson, folder=solutions).values())
        else:
            points = points_of(checks / lesson / f"test_{name}.py")
        if points is None:
            raise UnknownExercise(_("There is no exercise {exercise!r} to earn points for.", exercise=exercise))
        found[exercise] = points
    return found


def gradebook(
    found: Found,
    results: Sequence[Result],
    *,
    policy: Policy | None = None,
    overrides: Mapping[tuple[str, str], Override] | None = None,
    exercises: Mapping[str, int],
    title: str,
    graded_at_s: float,
) -> Gradebook:
    """The gradebook, its rows in the order of the roster.

    `exercises` are those that count, with the points of each. Attempts without a result count as not graded yet.
    """
    policy, overrides = policy or Policy(), overrides or {}
    insist_on_known(policy, (student.id for student in found.students), known_exercises(exercises))
    attempts: dict[tuple[str, str], list[Attempt]] = {}
    for attempt in found.attempts:
        attempts.setdefault((attempt.student, attempt.exercise), []).append(attempt)
    by_attempt: dict[tuple[str, str, str], Result] = {}
    for result in results:  # of one attempt that was graded twice, the last result
        by_attempt[result.attempt.student, result.attempt.exercise, result.attempt.shown] = result
    rows = []
    for student in found.students:
        scores = []
        for exercise, most in exercises.items():
            key = (student.id, exercise)
            theirs = attempts.get(key, [])
            graded = [by_attempt.get((*key, attempt.shown)) for attempt in theirs]
            scores.append(_overridden(_score(exercise, most, theirs, graded, policy), overrides.get(key)))
        rows.append(_row(student, scores))
    return Gradebook(
        title=title,
        exercises=list(exercises),
        rows=rows,
        results=list(results),
        not_assigned=found.not_assigned,
        graded_at_s=graded_at_s,
    )


def known_exercises(counted: Iterable[str]) -> set[str]:
    """What a policy may speak of: it is written for a course, of which a gradebook may hold a part."""
    return {*counted, *exercise_ids(), *quiz_ids()}


def _score(
    exercise: str, most: int, attempts: list[Attempt], results: Sequence[Result | None], policy: Policy
) -> Score:
    """What a student gets for an exercise whose attempts stand in the order in which they were handed in."""
    nothing = Score(exercise, 0.0, most, "ungraded" if attempts else "missing", len(attempts), None)
    if not attempts:
        return nothing
    if policy.count == "latest":
        latest = _latest_answered(results)
        attempts, results = attempts[latest : latest + 1], results[latest : latest + 1]
    graded = [
        (attempt, result, result.verdict)
        for attempt, result in zip(attempts, results, strict=True)
        if result is not None and result.verdict is not None
    ]
    if not graded:
        return nothing
    attempt, counted, verdict = max(graded, key=lambda each: _rank(*each, most=most, policy=policy))
    return Score(
        exercise=exercise,
        points=float(policy.worth(attempt, verdict.points, most)),
        max_points=most,
        status=verdict.status,
        attempts=nothing.attempts,
        counted=counted,
        late_days=float(policy.late_days(attempt)),
        before_lateness=float(min(max(verdict.points, 0), most)),
    )


def _latest_answered(results: Sequence[Result | None]) -> int:
    """The place of the latest attempt. A quiz that was left as it was is none, where there is another one."""
    answered = [
        place
        for place, result in enumerate(results)
        if result is None or result.verdict is None or result.verdict.status != "unanswered"
    ]
    return answered[-1] if answered else len(results) - 1


def _rank(
    attempt: Attempt, _: Result, verdict: Verdict, *, most: int, policy: Policy
) -> tuple[Fraction, bool, bool, Fraction, int]:
    """The attempt that is worth the most counts; of equals one that passed, that was answered, that came earlier."""
    worth = policy.worth(attempt, verdict.points, most)
    tried = verdict.status != "unanswered"
    return worth, verdict.passed, tried, -policy.late_days(attempt), -attempt.number


def _overridden(score: Score, override: Override | None) -> Score:
    if override is None:
        return score
    return Score(
        exercise=score.exercise,
        points=float(override.points),
        max_points=score.max_points,
        status=score.status,
        attempts=score.attempts,
        counted=score.counted,
        late_days=score.late_days,
        before_lateness=score.before_lateness,
        overridden=override.reason,
    )


def _row(student: Student, scores: list[Score]) -> Row:
    # As they are written, not as a computer stores them: ten times 0.1 is 1.
    points = sum((Fraction(str(score.points)) for score in scores), Fraction(0))
    return Row(student, scores, float(points), sum(score.max_points for score in scores))
