"""`python -m grader` grades files and finds what authors forgot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import grader.__main__
import grader.runner.warm
from grader.runner.warm import WarmRunner

SOLUTIONS = Path(__file__).parents[2] / "solutions"


@pytest.fixture(autouse=True)
def warm(forking: WarmRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def open_runner() -> Iterator[WarmRunner]:
        yield forking

    monkeypatch.setattr(grader.runner.warm, "open_runner", open_runner)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    file = tmp_path / "synchronize" / "quiz.toml"
    file.parent.mkdir()
    file.write_text("[answers]\n")
    return file


def test_a_file_is_graded_as_what_its_path_says(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert grader.__main__.main(["check", str(answers), "--seed", "3"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("synchronize/quiz: unanswered, 0 of ")
    assert "(seed 3)" in out
    assert "      Not answered." in out


def test_verdicts_are_printed_as_json(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert grader.__main__.main(["check", str(answers), str(answers), "--json"]) == 1
    verdicts = json.loads(capsys.readouterr().out)
    assert [verdict["exercise"] for verdict in verdicts] == ["synchronize/quiz"] * 2
    assert list(verdicts[0]) == [
        "schema",
        "exercise",
        "status",
        "points",
        "max_points",
        "checks",
        "gpu",
        "seed",
        "duration_s",
        "source_sha256",
        "version",
        "program_s",
        "language",
    ]
    assert list(verdicts[0]["checks"][0]) == ["name", "passed", "points", "max_points", "message", "mistake", "ours"]


def test_a_file_that_is_no_exercise_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "anything.py"
    file.write_text("")
    assert grader.__main__.main(["check", str(file)]) == 2
    assert "its path should end in <lesson>/<exercise>.py" in capsys.readouterr().err


@pytest.mark.parametrize("seed", ["-1", str(2**31), str(10**30)])
def test_a_seed_that_no_verdict_has_is_wrong_usage(
    seed: str, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        grader.__main__.main(["check", str(answers), f"--seed={seed}"])
    assert f"'{seed}' is no seed: a whole number from 0 to 2147483647" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "synchronize" / "time_on_the_gpu.py"
    assert grader.__main__.main(["check", str(file)]) == 2
    assert f"There is no file {file}." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("complaints", "of_runs", "exit_code"), [([], [], 0), (["a: has no checks."], [], 1), ([], ["b: passes."], 1)]
)
def test_the_lint_prints_its_complaints(
    complaints: list[str],
    of_runs: list[str],
    exit_code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("grader.lint.lint", lambda: list(complaints))
    monkeypatch.setattr("grader.lint.runs.run_all", lambda *_: of_runs)
    assert grader.__main__.main(["lint"]) == exit_code
    assert capsys.readouterr().out == "".join(f"{complaint}\n" for complaint in [*complaints, *of_runs])


def test_the_quick_lint_runs_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("grader.lint.lint", list)
    monkeypatch.setattr("grader.lint.runs.run_all", lambda *_: ["b: passes."])
    assert grader.__main__.main(["lint", "--quick"]) == 0


def test_a_reader_that_has_seen_enough_is_no_error(answers: Path) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-m", "grader", "check", str(answers)]
    done = subprocess.run(command, stdout=writes, stderr=subprocess.PIPE, check=False)
    os.close(writes)
    assert (done.returncode, done.stderr) == (1, b"")
