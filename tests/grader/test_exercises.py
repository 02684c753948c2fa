"""Every exercise is graded as it should be: starter, solution, each known mistake, each other right way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from course import catalog
from grader.check import check, exercise_ids
from grader.runner.warm import WarmRunner
from grader.verdict import Verdict

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
SUBMISSIONS = Path(__file__).with_name("submissions")
EXERCISES = exercise_ids()
SEEDS = (1, 20261130, 2**31 - 1)


def about(exercise: str) -> dict[str, Any]:
    """What these tests have to know of an exercise: the starter's mistake, and an answer without measuring."""
    return tomllib.loads((SUBMISSIONS / exercise / "exercise.toml").read_text(encoding="utf-8"))


def points(exercise: str) -> int:
    step = catalog.load().step(exercise)
    assert step is not None, f"no lesson has the exercise {exercise}"
    return step.points


def submissions(right: bool) -> list[str]:
    """The submissions with a known mistake, or those that are right in another way, as <lesson>/<exercise>/<name>."""
    names = [file.relative_to(SUBMISSIONS).with_suffix("").as_posix() for file in SUBMISSIONS.glob("*/*/*.py")]
    return sorted(name for name in names if Path(name).name.startswith("right_") == right)


def graded(exercise: str, path: Path, lab_runner: WarmRunner, seed: int) -> Verdict:
    return check(exercise, path, seed=seed, runner=lab_runner)


def messages(verdict: Verdict) -> str:
    return "\n".join(f"{result.passed} {result.name} {result.mistake} {result.message}" for result in verdict.checks)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_solution_passes_with_full_points(exercise: str, seed: int, lab_runner: WarmRunner) -> None:
    verdict = graded(exercise, ROOT / "solutions" / f"{exercise}.py", lab_runner, seed)
    assert verdict.status == "passed", messages(verdict)
    assert verdict.points == verdict.max_points == points(exercise)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_starter_fails_with_the_mistake_that_its_lesson_is_about(
    exercise: str, seed: int, lab_runner: WarmRunner
) -> None:
    verdict = graded(exercise, ROOT / "exercises" / f"{exercise}.py", lab_runner, seed)
    assert verdict.status == "failed", messages(verdict)
    assert all(result.passed or result.message for result in verdict.checks)
    assert about(exercise)["starter_makes"] in {result.mistake for result in verdict.checks}, messages(verdict)


@pytest.mark.parametrize("submission", submissions(right=False))
def test_a_known_mistake_gets_its_own_explanation(submission: str, lab_runner: WarmRunner) -> None:
    exercise, _, name = submission.rpartition("/")
    verdict = graded(exercise, SUBMISSIONS / f"{submission}.py", lab_runner, seed=7)
    assert verdict.status == "failed", messages(verdict)
    mistakes = {result.mistake for result in verdict.checks if not result.passed}
    assert mistakes == {name.partition("__")[0]}, messages(verdict)


@pytest.mark.parametrize("submission", submissions(right=True))
def test_another_right_way_passes(submission: str, lab_runner: WarmRunner) -> None:
    exercise = submission.rpartition("/")[0]
    verdict = graded(exercise, SUBMISSIONS / f"{submission}.py", lab_runner, seed=7)
    assert verdict.status == "passed", messages(verdict)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_constant_does_not_pass(exercise: str, tmp_path: Path, lab_runner: WarmRunner) -> None:
    constant = about(exercise)["constant"]
    path = tmp_path / "submission.py"
    source = f"import torch\n\n\ndef {constant['function']}(*arguments):\n    return {constant['returns']}\n"
    path.write_text(source, encoding="utf-8")
    verdict = graded(exercise, path, lab_runner, seed=7)
    assert verdict.status == "failed", messages(verdict)
    assert verdict.points < verdict.max_points / 2, messages(verdict)
    assert not any("fault of the course" in (result.message or "") for result in verdict.checks), messages(verdict)


@pytest.mark.parametrize("root", ["exercises", "solutions"])
@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_file_runs_by_itself_and_shows_something(exercise: str, root: str, lab_runner: WarmRunner) -> None:
    from grader.runner.protocol import Finished, Script

    path = ROOT / root / f"{exercise}.py"
    outcome = lab_runner.run(Script(str(path), path.read_text(encoding="utf-8"), None))
    assert isinstance(outcome.report, Finished)
    assert outcome.report.exit_code == 0, outcome.output
    assert outcome.output.strip()
