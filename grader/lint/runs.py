"""Runs the files of every exercise: a starter fails with the mistake that it was written for, a solution passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from grader.check import check
from grader.errors import CheckFault, GraderError
from grader.lint.places import Course
from grader.lint.submissions import about
from grader.runner.protocol import Finished, Script
from grader.runner.warm import WarmRunner
from grader.verdict import Verdict

SEED = 1


def complaints(course: Course, runner: WarmRunner, tell: Callable[[str], None] = lambda _: None) -> Iterator[str]:
    """Complaints about exercises that have all of their files; others are for the rules that run nothing."""
    for exercise in course.exercise_ids():
        files = (course.starter(exercise), course.solution(exercise), course.checks_of(exercise))
        if not all(file.is_file() for file in files):
            continue
        tell(exercise)
        for file in files[:2]:
            yield from _shows_something(course, file, runner)
        try:
            starter, solution = (
                check(exercise, file, seed=SEED, runner=runner, checks=course.checks) for file in files[:2]
            )
        except CheckFault as fault:
            yield f"{course.name(files[2])}: {fault}"
            continue
        yield from _starter_fails(course, exercise, starter)
        yield from _solution_passes(course, exercise, solution)


def _shows_something(course: Course, file: Path, runner: WarmRunner) -> Iterator[str]:
    outcome = runner.run(Script(str(file), file.read_text(encoding="utf-8")))
    last = (outcome.output.strip().splitlines() or [""])[-1]
    if not isinstance(outcome.report, Finished) or outcome.report.exit_code != 0:
        yield f"{course.name(file)}: doesn't run by itself ({last or outcome.end}). Correct it."
    elif not last:
        yield f"{course.name(file)}: prints nothing when it is run. Show what the learner's function measures."


def _starter_fails(course: Course, exercise: str, verdict: Verdict) -> Iterator[str]:
    place = course.name(course.starter(exercise))
    if verdict.passed:
        yield f"{place}: passes its checks as shipped. Leave something to do, or check more."
        return
    if verdict.status != "failed":
        yield f"{place}: doesn't get as far as its checks ({verdict.status}). {_messages(verdict)}"
        return
    try:
        expected = about(course, exercise).starter_makes
    except (OSError, ValueError):
        return  # told by the rules about submissions
    made = sorted({result.mistake for result in verdict.checks if result.mistake})
    if expected not in made:
        found = " and ".join(made) or "no known mistake"
        yield f"{place}: makes {found}, not {expected}. Correct exercise.toml or a check."


def _solution_passes(course: Course, exercise: str, verdict: Verdict) -> Iterator[str]:
    if not verdict.passed or verdict.points != verdict.max_points:
        place = course.name(course.solution(exercise))
        earned = f"{verdict.points} of {verdict.max_points} points"
        yield f"{place}: gets {earned}. Correct it or a check. {_messages(verdict)}"


def _messages(verdict: Verdict) -> str:
    return " ".join(dict.fromkeys(result.message for result in verdict.checks if result.message and not result.passed))


def run_all(course: Course, tell: Callable[[str], None] = lambda _: None) -> list[str]:
    """Run everything on the simulated GPU, where a verdict doesn't depend on the machine."""
    try:
        with WarmRunner(environment={"PROFILE_FIRST_GPU": "simulated"}) as runner:
            return list(complaints(course, runner, tell))
    except GraderError as error:
        return [f"the exercises can't be run: {error}"]
