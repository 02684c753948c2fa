"""The command line keeps its contract: exit codes, JSON, and messages that say what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from course import catalog, progress, workspace
from course.cli import main
from course.doctor import Finding, python, torch
from course.report import Ink, finding_in_words, verdict_in_words
from grader.verdict import CheckResult, to_plain
from tests.course.conftest import verdict

EXERCISE = "perf_counter/warm_up_and_repeat"
QUIZ = "perf_counter/quiz"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "course", *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        check=False,
    )


def right_answers() -> dict[str, str]:
    from grader.quiz import read_answers

    return {question: answer.right for question, answer in read_answers("perf_counter").items()}


def test_help_names_every_command_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for word in (
        "list",
        "run",
        "check",
        "hint",
        "reset",
        "notebook",
        "watch",
        "diagnose",
        "doctor",
        "PROFILE_FIRST_HOME",
        "PROFILE_FIRST_GPU",
        "exit codes",
    ):
        assert word in shown
    assert max(map(len, shown.splitlines())) <= 120


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("profile-first ")


def test_an_unknown_command_is_wrong_usage() -> None:
    with pytest.raises(SystemExit) as ended:
        main(["lst"])
    assert ended.value.code == 2


def test_list_as_json_has_every_exercise_with_points_and_status(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with progress.at_home() as kept:
        kept.record({"exercise": EXERCISE, "status": "passed", "points": 5, "max_points": 5})
        kept.record({"exercise": QUIZ, "status": "failed", "points": 1, "max_points": 5})
    assert main(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["lessons"]
    assert [lesson["id"] for lesson in listed] == [lesson.id for lesson in catalog.load().lessons]
    first = {exercise["id"]: exercise for exercise in listed[0]["exercises"]}
    assert set(first[EXERCISE]) == {"id", "title", "points", "earned", "status"}
    assert [(first[each]["earned"], first[each]["points"]) for each in (EXERCISE, QUIZ)] == [(5, 5), (1, 5)]
    assert (first[EXERCISE]["status"], first[QUIZ]["status"]) == ("passed", "attempted")
    assert {exercise["status"] for exercise in listed[1]["exercises"]} == {"new"}


def test_list_shows_marks_and_points(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with progress.at_home() as kept:
        kept.record({"exercise": EXERCISE, "status": "passed", "points": 5, "max_points": 5})
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    line = next(line for line in lines if EXERCISE in line)
    assert "✓" in line
    assert "5/5" in line
    assert lines[0].endswith(f"5/{catalog.load().lessons[0].points} points")
    possible = sum(lesson.points for lesson in catalog.load().lessons)
    assert lines[-1] == f"All together: 5/{possible} points"


def test_the_app_refuses_a_pipe(home: Path) -> None:
    done = run()
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr


def test_run_without_the_file_is_wrong_usage(home: Path) -> None:
    done = run("run", "no_such.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no_such.py" in done.stderr


def test_run_says_what_it_lacks(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.strip().endswith("required: FILE")
    assert main(["run", "."]) == 2
    assert "'.' is a folder" in capsys.readouterr().err


def test_an_unknown_option_shows_the_usage_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["list", "--jsn"])
    assert ended.value.code == 2
    shown = capsys.readouterr().err
    assert shown.startswith("usage: profile-first list")
    assert "--jsn" in shown


@pytest.mark.parametrize("seed", ["-1", "2147483648", "1.5", "x"])
def test_a_seed_out_of_range_is_wrong_usage(seed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", QUIZ, f"--seed={seed}"])
    assert ended.value.code == 2
    assert "from 0 to 2147483647" in capsys.readouterr().err


def test_the_name_of_a_lesson_gets_its_exercises(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "perf_counter"]) == 2
    shown = capsys.readouterr().err
    assert f"Name one of its exercises: {' or '.join(step.id for step in catalog.load().lessons[0].graded)}." in shown


def test_a_path_without_a_file_is_told_as_that(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "./diagnosis/nope.py"]) == 2
    assert "there is no file './diagnosis/nope.py'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check {}.py", "watch {}.py", "run {}.py", "notebook synchronize --out {}"])
def test_a_path_that_the_system_refuses_is_named(command: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.format(300 * "a").split()) == 2
    shown = capsys.readouterr().err
    assert "File name too long" in shown
    assert 300 * "a" in shown


def test_notebooks_that_cannot_be_written_are_told_of_out(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["notebook", "synchronize", "--out", str(tmp_path / "file")]) == 2
    assert "can't be written: Not a directory. Name another folder with --out" in capsys.readouterr().err


def test_help_says_that_a_checked_file_runs_with_ones_rights(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    assert "with your rights" in " ".join(capsys.readouterr().out.split())


def test_a_misspelt_exercise_gets_suggestions(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "perf_counter/warm_up_and_repaet"]) == 2
    assert f"Did you mean {EXERCISE}?" in capsys.readouterr().err


def test_an_exercise_that_was_not_begun_is_wrong_usage(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", EXERCISE]) == 2
    assert "haven't begun" in capsys.readouterr().err


def test_a_file_outside_of_any_lesson_is_wrong_usage(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "warm_up_and_repeat.py"
    file.write_text("")
    assert main(["check", str(file)]) == 2
    shown = capsys.readouterr().err
    assert "<lesson>/<exercise>.py" in shown
    assert EXERCISE in shown


def test_nothing_is_checked_when_one_of_several_names_is_wrong(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace.at_home().save_answers("perf_counter", right_answers())
    assert main(["check", QUIZ, "no/such"]) == 2
    assert capsys.readouterr().out == ""


def test_the_learners_own_quiz_is_checked_and_recorded(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace.at_home().save_answers("perf_counter", right_answers())
    assert main(["check", QUIZ, "--json", "--seed", "3"]) == 0
    (checked,) = json.loads(capsys.readouterr().out)
    assert (checked["schema"], checked["status"], checked["seed"]) == (1, "passed", 3)
    assert checked["points"] == checked["max_points"] > 0
    with progress.at_home() as kept:
        assert kept.best()[QUIZ].passed


def test_a_verdict_that_cannot_be_kept_is_shown_all_the_same(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full() -> progress.Progress:
        raise progress.ProgressError("the disk is full")

    workspace.at_home().save_answers("perf_counter", right_answers())
    monkeypatch.setattr(progress, "at_home", full)
    assert main(["check", QUIZ]) == 0
    shown = capsys.readouterr()
    assert "passed" in shown.out
    assert "the disk is full" in shown.err


def test_somebody_elses_file_is_checked_but_not_recorded(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = workspace.Workspace(tmp_path / "class" / "ada")
    file = other.save_answers("perf_counter", {})
    assert main(["check", str(file)]) == 1
    assert "not answered" in capsys.readouterr().out
    with progress.at_home() as kept:
        assert kept.best() == {}


def failed_verdict() -> dict[str, Any]:
    return to_plain(
        verdict(
            CheckResult("The first check.", True, 2, 2),
            CheckResult("The second check.", False, 0, 3, "You saw [this].\n    x = 1"),
            CheckResult("The third check.", False, 0, 1, "You saw [this].\n    x = 1"),
        )
    )


def test_a_verdict_in_words_has_marks_points_and_each_message_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = list(verdict_in_words(failed_verdict(), Path("a/b.py"), Ink(sys.stdout)))
    assert lines[0] == f"✗ {EXERCISE}: not passed, 2/6 points"
    assert lines[1] == "  ✓ The first check. 2/2"
    assert lines[2:5] == ["  ✗ The second check. 0/3", "    You saw [this].", "        x = 1"]
    assert lines[5] == "  ✗ The third check. 0/1, for the same reason"
    assert "simulated GPU Test Card, seed 7" in lines[6]


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding

    def isatty(self) -> bool:
        return True


def test_colours_only_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal: Any = Terminal("utf-8")
    assert Ink(terminal).good("✓") == "\x1b[32m✓\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Ink(terminal).good("✓") == "✓"


def test_signs_become_ascii_where_the_encoding_lacks_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    ascii_terminal: Any = Terminal("ascii")
    assert Ink(ascii_terminal).bad("✗ no") == "x no"


@pytest.mark.parametrize(
    ("version", "status"), [("2.7.1", "problem"), ("2.8.0", "good"), ("2.9.1", "note"), ("2.15.0+cu130", "good")]
)
def test_doctor_knows_which_torch_versions_are_tested(version: str, status: str) -> None:
    assert torch(version).status == status


def test_doctor_wants_python_3_10() -> None:
    assert python((3, 9, 1)).status == "problem"
    assert python((3, 10, 0)).status == "good"


def test_a_problem_says_what_to_do() -> None:
    lines = list(finding_in_words(Finding("GPU", "problem", "none", "Unset it."), Ink(sys.stdout)))
    assert lines == ["✗ GPU: none", "    To do: Unset it."]


@pytest.mark.slow
def test_run_passes_arguments_and_returns_the_programs_exit_code(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("import sys, torch\nprint(torch.ones(2, device='cuda').device, sys.argv[1:])\nsys.exit(7)\n")
    done = run("run", str(file), "--fast", "x", PROFILE_FIRST_GPU="simulated")
    assert (done.returncode, done.stdout) == (7, "cuda:0 ['--fast', 'x']\n")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_run_names_the_gpu_on_a_terminal_and_only_there(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("import sys\nprint(__name__, sys.argv)\nraise ValueError('its own')\n")
    ours, theirs = os.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "course", "run", str(file), "x"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PROFILE_FIRST_GPU": "simulated", "NO_COLOR": "1"},
        check=False,
    )
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert (done.returncode, done.stdout.decode()) == (1, f"__main__ {[str(file), 'x']}\n")
    assert shown.splitlines()[0] == "GPU in use: Profile First Simulated GPU (simulated)"
    assert shown.splitlines()[-1] == "ValueError: its own"
    assert "<string>" not in shown
    assert "GPU in use" not in run("run", str(file), PROFILE_FIRST_GPU="simulated").stderr


@pytest.mark.slow
def test_several_files_are_checked_and_one_failure_is_enough_for_exit_code_1(home: Path) -> None:
    root = Path(__file__).parents[2]
    files = [str(root / folder / f"{EXERCISE}.py") for folder in ("solutions", "exercises")]
    done = run("check", *files, "--json", PROFILE_FIRST_GPU="simulated")
    assert done.returncode == 1, done.stderr
    solution, starter = json.loads(done.stdout)
    assert (solution["status"], solution["points"]) == ("passed", solution["max_points"])
    assert starter["status"] != "passed"
    assert solution["gpu"]["kind"] == "simulated"


@pytest.mark.slow
def test_doctor_finds_the_gpu_in_use(home: Path) -> None:
    done = run("doctor", "--json", PROFILE_FIRST_GPU="simulated")
    findings = {finding["name"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert findings["GPU"]["status"] == "good"
    assert "simulated" in findings["GPU"]["detail"]
    assert str(home) in findings["Your folder"]["detail"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_closed_or_full_output_is_no_traceback(tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m course list"
    environment = {**os.environ, "PROFILE_FIRST_HOME": str(tmp_path)}
    told = []
    for redirection in (">&-", "> /dev/full"):
        done = subprocess.run(
            ["bash", "-c", f"{command} {redirection}"], capture_output=True, text=True, env=environment, check=False
        )
        told.append((done.returncode, done.stderr))
    assert told[0] == (0, "")
    assert told[1][0] == 2
    assert "the output can't be written" in told[1][1]
    assert "Traceback" not in told[1][1]


def test_a_damaged_progress_file_is_told_about(tmp_path: Path) -> None:
    (tmp_path / "progress.sqlite3").write_bytes(b"not a database" * 100)
    done = run("list", PROFILE_FIRST_HOME=str(tmp_path))
    assert done.returncode == 0
    assert "The progress file was damaged and is now" in done.stderr


def test_a_file_of_ones_own_is_checked_where_no_progress_can_be_kept(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    answers = tmp_path / "perf_counter" / "quiz.toml"
    answers.parent.mkdir()
    answers.write_text("[answers]\n")
    done = run("check", str(answers), PROFILE_FIRST_HOME=str(blocked))
    assert done.returncode == 1
    assert "can't be opened" not in done.stderr
