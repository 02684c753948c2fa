"""Every exercise is graded as it should be: starter, solution, each known mistake, each other right way."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from course import catalog
from grader.check import check, exercise_ids
from grader.mistakes import misconceptions
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


def test_each_exercise_has_its_step_in_a_lesson() -> None:
    steps = [step.id for step in catalog.load().graded() if step.kind == "exercise"]
    assert sorted(steps) == EXERCISES


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
    assert mistakes == {name}, messages(verdict)


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


@pytest.mark.parametrize("exercise", EXERCISES)
def test_starter_and_solution_state_the_same_task_first(exercise: str) -> None:
    tasks = [
        re.split(r"^# %%$", (ROOT / root / f"{exercise}.py").read_text(encoding="utf-8"), maxsplit=1, flags=re.M)[0]
        for root in ("exercises", "solutions")
    ]
    assert tasks[0] == tasks[1]
    assert tasks[0].startswith("# %% [markdown]\n# # ")


def test_each_known_mistake_has_a_wrong_submission() -> None:
    shown = {Path(name).name for name in submissions(right=False)}
    assert shown == set(misconceptions())


def test_each_known_mistake_names_a_card_that_there_is_and_a_source() -> None:
    cards = {
        f"{lesson.parent.name.partition('_')[2]}/{card}"
        for lesson in (ROOT / "course" / "lessons").glob("*/en.md")
        for card in re.findall(r"^## .*\{#(\w+)\}$", lesson.read_text(encoding="utf-8"), flags=re.M)
    }
    for name, misconception in misconceptions().items():
        assert misconception.card in cards, name
        assert re.fullmatch(r"S\d+\.\d+", misconception.source or ""), name
