"""Exercises as notebooks: they run where Jupyter runs, are graded in full when solved, and keep a learner's work."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from course import catalog, workspace
from course.cli import main
from grader.check import check, exercises_of
from grader.notebook import answers_in, read_notebook
from grader.percent import split
from grader.quiz import read_answers
from grader.runner.warm import WarmRunner
from grader.verdict import Verdict

ROOT = Path(__file__).parents[2]
EXERCISE = "synchronize/time_on_the_gpu"
GRADED = [step.id for step in catalog.load().graded()]
EXERCISES = [each for each in GRADED if not each.endswith("/quiz")]
LAST = [each for each in EXERCISES if each.startswith("synchronize/")][-1]  # it holds the quiz of its lesson


def write(out: Path, *arguments: str) -> int:
    return main(["notebook", *arguments, "--out", str(out)])


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def save(book: Any, path: Path) -> None:
    nbformat.write(book, path)


def solve(path: Path) -> None:
    """Paste the solution's cells over those of the starter, and fill in the right answers."""
    book = read(path)
    exercise, *quiz = exercises_of(path)
    solution = split((ROOT / "solutions" / f"{exercise}.py").read_text(encoding="utf-8"))
    for cell, solved in zip(book.cells[1:], solution, strict=False):
        cell.source = solved.source
    for each in quiz:
        right = {question: answer.right for question, answer in read_answers(each.partition("/")[0]).items()}
        book.cells[-1].source = f"answers = {json.dumps(right, indent=4)}"
    save(book, path)


@pytest.fixture
def course(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[Path]:
    """Notebooks of the whole course."""
    assert write(tmp_path / "out") == 0
    told = capsys.readouterr().out.splitlines()
    assert all(line.endswith(": written") for line in told)
    return [Path(line.removesuffix(": written")) for line in told]


def test_every_exercise_and_quiz_of_the_course_is_in_one_notebook(course: list[Path]) -> None:
    assert [path.relative_to(path.parents[1]).with_suffix("").as_posix() for path in course] == EXERCISES
    assert sorted(exercise for path in course for exercise in exercises_of(path)) == sorted(GRADED)


def test_a_notebook_is_valid_and_its_first_cell_puts_the_gpu_in_place(course: list[Path]) -> None:
    for path in course:
        book = read(path)
        nbformat.validate(book)
        assert (book.nbformat, book.nbformat_minor) == (4, 5)
        assert "lab.gpu.use()" in book.cells[0].source
        assert "# %pip install" in book.cells[0].source
        assert [cell.source for cell in book.cells[1:3]] == [
            cell.source for cell in split((ROOT / f"exercises/{exercises_of(path)[0]}.py").read_text("utf-8"))[:2]
        ]


def test_the_same_notebook_is_written_each_time(course: list[Path], tmp_path: Path) -> None:
    assert write(tmp_path / "again") == 0
    for path in course:
        assert (tmp_path / "again" / path.relative_to(tmp_path / "out")).read_bytes() == path.read_bytes()


def test_the_right_answers_arent_in_it(course: list[Path]) -> None:
    for path in course:
        for quiz in exercises_of(path)[1:]:
            for answer in read_answers(quiz.partition("/")[0]).values():
                assert answer.why[answer.right] not in path.read_text("utf-8")
            assert set(answers_in(read_notebook(path.read_bytes(), path.name)).values()) == {""}


def nbgrader_cells(path: Path) -> Iterator[dict[str, Any]]:
    for cell in read(path).cells:
        if "nbgrader" in cell.metadata:
            yield dict(cell.metadata.nbgrader)


def test_its_cells_carry_the_points_in_the_way_of_nbgrader(course: list[Path]) -> None:
    ids: list[str] = []
    for path in course:
        points = {each: step.points for each in exercises_of(path) if (step := catalog.load().step(each))}
        found = list(nbgrader_cells(path))
        assert sum(cell.get("points", 0) for cell in found) == sum(points.values())
        assert len([cell for cell in found if cell["grade"]]) == len(points)
        for cell in found:
            assert set(cell) - {"points"} == {
                "schema_version",
                "grade",
                "locked",
                "solution",
                "task",
                "grade_id",
                "cell_type",
            }
            assert cell["schema_version"] == 3
            assert re.fullmatch(r"[a-zA-Z0-9_-]+", cell["grade_id"])
            assert ("points" in cell) == cell["grade"]
            assert not (cell["locked"] and cell["solution"])
        ids += [cell["grade_id"] for cell in found]
    assert len(ids) == len(set(ids))


def test_nbgraders_own_validator_accepts_the_metadata(course: list[Path]) -> None:
    v3 = pytest.importorskip("nbgrader.nbgraderformat.v3")
    for path in course:
        v3.MetadataValidatorV3().validate_nb(read(path))


# Grading


def verdicts(path: Path, runner: WarmRunner) -> list[Verdict]:
    return [check(exercise, path, seed=7, runner=runner) for exercise in exercises_of(path)]


@pytest.fixture(scope="module")
def lab_runner() -> Iterator[WarmRunner]:
    with WarmRunner(environment={"PROFILE_FIRST_GPU": "simulated"}) as warm:
        yield warm


@pytest.mark.slow
def test_a_solved_notebook_gets_full_points_and_an_untouched_one_doesnt(
    course: list[Path], lab_runner: WarmRunner
) -> None:
    for path in course:
        for untouched in verdicts(path, lab_runner):
            quiz = untouched.exercise.endswith("/quiz")
            assert untouched.status == ("unanswered" if quiz else "failed"), untouched
        solve(path)
        for solved in verdicts(path, lab_runner):
            assert (solved.status, solved.points) == ("passed", solved.max_points), solved


@pytest.mark.slow
def test_a_solved_notebook_runs_in_jupyter_and_gets_full_points_then(
    course: list[Path], lab_runner: WarmRunner, tmp_path: Path
) -> None:
    for module in ("nbconvert", "ipykernel"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}")
    for path in course:
        solve(path)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PROFILE_FIRST_GPU": "simulated", "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", *map(str, course)],
        env={**environment, "HOME": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    for path in course:
        outputs = [output for cell in read(path).cells for output in cell.get("outputs", ())]
        assert "(simulated)" in outputs[0].text
        assert [output for output in outputs if output.output_type == "error"] == []
        for verdict in verdicts(path, lab_runner):
            assert (verdict.status, verdict.points) == ("passed", verdict.max_points), verdict


def test_check_grades_all_that_a_notebook_holds(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert write(tmp_path, "perf_counter/quiz") == 0
    path = tmp_path / "perf_counter" / "quiz.ipynb"
    capsys.readouterr()
    assert main(["check", str(path)]) == 1
    assert "○ perf_counter/quiz: not answered, 0/" in capsys.readouterr().out
    assert main(["check", str(path), "--json"]) == 1
    (verdict,) = json.loads(capsys.readouterr().out)
    assert (verdict["exercise"], verdict["status"]) == ("perf_counter/quiz", "unanswered")
    assert {each["message"] for each in verdict["checks"]} == {"Not answered."}


# The choices


def questions(path: Path) -> str:
    return str(read(path).cells[-2].source)


def test_the_choices_are_shuffled_by_the_seed(home: Path, tmp_path: Path) -> None:
    shown = {}
    for folder, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert write(tmp_path / folder, "perf_counter/quiz", "--seed", seed) == 0
        shown[folder] = questions(tmp_path / folder / "perf_counter" / "quiz.ipynb")
    assert shown["a"] == shown["b"] != shown["c"]
    assert sorted(shown["a"].splitlines()) == sorted(shown["c"].splitlines())


# Keeping what a learner wrote


def test_what_a_learner_changed_is_not_overwritten(home: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    assert write(out, EXERCISE) == 0
    path = out / f"{EXERCISE}.ipynb"
    solve(path)
    mine = path.read_bytes()
    capsys.readouterr()
    assert write(out, EXERCISE, "perf_counter") == 2
    assert f"changed since the course wrote them: {path}. Nothing was written." in capsys.readouterr().err
    assert path.read_bytes() == mine
    assert not (out / "perf_counter").exists()
    assert write(out, EXERCISE, "--force", "--json") == 0
    (told,) = json.loads(capsys.readouterr().out)["notebooks"]
    assert (told["path"], told["outcome"]) == (str(path), "replaced")
    assert Path(told["backup"]).read_bytes() == mine
    assert path.read_bytes() != mine


@pytest.mark.parametrize("content", ["", "no notebook", "[]", '{"nbformat": 4, "cells": [], "metadata": {}}'])
def test_any_other_file_in_its_place_is_not_overwritten(content: str, home: Path, tmp_path: Path) -> None:
    path = tmp_path / f"{EXERCISE}.ipynb"
    path.parent.mkdir()
    path.write_text(content)
    assert write(tmp_path, EXERCISE) == 2
    assert path.read_text() == content
    assert write(tmp_path, EXERCISE, "--force") == 0
    assert (path.parent / "backups" / "time_on_the_gpu.1.ipynb").read_text() == content


def test_a_notebook_that_was_only_run_is_left_alone(home: Path, tmp_path: Path, capsys: Any) -> None:
    assert write(tmp_path, EXERCISE) == 0
    path = tmp_path / f"{EXERCISE}.ipynb"
    book = read(path)
    book.cells[0].outputs = [nbformat.v4.new_output("stream", text="GPU in use")]
    book.cells[0].execution_count = 1
    save(book, path)
    run = path.read_bytes()
    capsys.readouterr()
    assert write(tmp_path, EXERCISE) == 0
    assert capsys.readouterr().out == f"{path}: unchanged\n"
    assert path.read_bytes() == run


def test_a_notebook_of_an_earlier_version_is_replaced(home: Path, tmp_path: Path) -> None:
    assert write(tmp_path, LAST, "--seed", "1") == 0
    before = (tmp_path / f"{LAST}.ipynb").read_bytes()
    assert write(tmp_path, LAST, "--seed", "2") == 0
    assert (tmp_path / f"{LAST}.ipynb").read_bytes() != before


def test_the_starter_is_written_or_ones_own_code_if_asked(home: Path, tmp_path: Path) -> None:
    own = workspace.at_home()
    own.open(LAST)
    own.save(LAST, "# %% [markdown]\n# # Title\n\n# %%\ndef f(work):\n    return 'mine'\n")
    own.save_answers("synchronize", {"event_unit": "seconds"})
    for folder, arguments in (("starter", []), ("mine", ["--mine"])):
        assert write(tmp_path / folder, LAST, *arguments) == 0
    starter, mine = (tmp_path / folder / f"{LAST}.ipynb" for folder in ("starter", "mine"))
    assert "return 'mine'" not in starter.read_text("utf-8")
    assert "return 'mine'" in mine.read_text("utf-8")
    assert answers_in(read_notebook(mine.read_bytes(), ""))["event_unit"] == "seconds"


def test_an_unknown_exercise_is_wrong_usage(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert write(tmp_path, "synchronise") == 2
    assert "there is no exercise 'synchronise'" in capsys.readouterr().err
    assert list(tmp_path.glob("**/*.ipynb")) == []
