"""A class with a hundred hostile submissions in it is graded as if they weren't there, and they get nothing.

The submissions lie in redteam/<lesson>/<exercise>/<what it does>.py; what an editor would spoil is made by hostile.py.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from grader.batch.ledger import Line, Opening
from grader.batch.records import Result
from grader.check import check
from grader.runner import bubblewrap, seccomp
from grader.runner.confine import FIRST_ABI_WITH_FILES, landlock_abi
from grader.runner.sandbox import FIRST_USER
from grader.runner.warm import WarmRunner
from tests.grader import hostile

SHARED = ("/tmp", "/var/tmp", "/dev/shm")
SEED = 7
LONGEST_RUN_S = 8
TELLTALE = re.compile("RED TEAM (READ|TOOK|REACHED|FOUND|LIFTED)[^\n]*")
# Runs the command as a parent that takes in every orphan, and tells which processes are left when it has ended.
WATCH = """
import json, subprocess, sys, time
from grader.runner.descendants import adopt_orphans, descendants, is_running
import os
adopt_orphans()
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, capture_output=True)
left = [pid for pid in descendants(os.getpid()) if is_running(pid)]
said = [open(f"/proc/{pid}/cmdline", "rb").read().decode(errors="replace") for pid in left]
print(json.dumps({"code": done.returncode, "said": (done.stdout + done.stderr).decode(), "left": said}))
"""
linux = pytest.mark.skipif(
    sys.platform != "linux" or landlock_abi() < FIRST_ABI_WITH_FILES or not seccomp.supported(),
    reason="needs Landlock and a filter of system calls",
)


class Graded(NamedTuple):
    """What came of a class."""

    code: int
    said: str
    left: list[str]
    results: list[Result]
    temporary: list[str]


def grade(given: Path, out: Path, bubble: bool) -> Graded:
    """Grade a folder by the real command, in a process that sees whatever it leaves behind."""
    temporary = out.with_name(f"{out.name}-temporary")
    temporary.mkdir()
    path = os.environ["PATH"] if bubble else str(_without_bubblewrap(out))
    command = [sys.executable, "-m", "grader", "grade", str(given), "--out", str(out), "--jobs", "2"]
    command += ["--seed", str(SEED), "--longest-run", str(LONGEST_RUN_S)]
    done = subprocess.run(
        [sys.executable, "-c", WATCH, *command],
        env={**os.environ, "TMPDIR": str(temporary), "PATH": path, "PROFILE_FIRST_GPU": "simulated"},
        cwd=hostile.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    results = list(results_in(out))
    return Graded(told["code"], told["said"], told["left"], results, [entry.name for entry in temporary.iterdir()])


def _without_bubblewrap(out: Path) -> Path:
    """A folder to be the whole PATH, in which there is no bwrap."""
    folder = out.with_name(f"{out.name}-programs")
    folder.mkdir()
    (folder / "python").symlink_to(sys.executable)
    return folder


def results_in(out: Path) -> Iterator[Result]:
    for line in (out / "ledger.jsonl").read_bytes().splitlines():
        read = msgspec.json.decode(line, type=Opening | Line)
        if isinstance(read, Line):
            yield read.result


def said(result: Result) -> Any:
    """A verdict, without the times in its messages, which no two runs have in common."""
    assert result.verdict is not None, result.trouble
    checks = [(each.name, each.points, each.mistake, each.ours) for each in result.verdict.checks]
    return result.verdict.status, result.verdict.points, checks, result.trouble, result.look


def text_of(result: Result) -> str:
    return "\n".join(each.message or "" for each in result.verdict.checks) if result.verdict is not None else ""


def contents(folder: Path) -> dict[str, str]:
    """Everything in a folder, and what it holds."""
    found = {}
    for path in folder.rglob("*"):
        mode = path.lstat().st_mode
        held = ""
        if stat.S_ISREG(mode):
            held = hashlib.sha256(path.read_bytes()).hexdigest()
        elif stat.S_ISLNK(mode):
            held = str(path.readlink())
        found[str(path)] = f"{mode:o} {held}"
    return found


def left_in_shared_places() -> list[str]:
    """What no other program on this machine makes: files with the hostile ones' mark, or of a run's own user."""
    found = []
    for place in SHARED:
        for entry in os.scandir(place):
            try:
                ours = entry.stat(follow_symlinks=False).st_uid >= FIRST_USER
            except OSError:
                continue
            if ours or hostile.MARK in entry.name:
                found.append(entry.path)
    return found


@linux
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("bubble", [True, False], ids=["in bubblewrap", "without bubblewrap"])
def test_hostile_submissions_get_nothing_leave_nothing_and_cost_nobody_anything(bubble: bool, tmp_path: Path) -> None:
    if bubble and bubblewrap.find()[0] is None:
        pytest.skip(f"bubblewrap: {bubblewrap.find()[1]}")
    given, alone = tmp_path / "class", tmp_path / "alone"
    honest = hostile.write_honest(alone)
    shutil.copytree(alone, given)
    hostiles = hostile.write_hostile(given)
    before = contents(given)
    assert left_in_shared_places() == []

    expected = {each.attempt.student: said(each) for each in grade(alone, tmp_path / "out-alone", bubble).results}
    graded = grade(given, tmp_path / "out", bubble)

    assert graded.code in (0, 1), graded.said
    assert graded.left == []
    assert graded.temporary == []
    assert left_in_shared_places() == []
    assert contents(given) == before

    by_student = {each.attempt.student: each for each in graded.results}
    assert {student: said(by_student[student]) for student in honest} == expected
    assert {student for student, (_, points, *_) in expected.items() if points and "right" in student}
    assert hostiles <= set(by_student)
    got = {student: each.verdict.points for student, each in by_student.items() if each.verdict and each.verdict.points}
    assert {student: points for student, points in got.items() if student not in honest} == {}
    not_graded = {student: each.trouble for student, each in by_student.items() if each.verdict is None}
    assert not_graded == {}
    told = {student: TELLTALE.findall(text_of(each)) for student, each in by_student.items()}
    assert {student: found for student, found in told.items() if found} == {}
    layers = {tuple(each.isolation) for each in graded.results}
    assert len(layers) == 1
    assert ("bubblewrap" in layers.pop()) == bubble
    check_the_reports(tmp_path / "out")


def check_the_reports(out: Path) -> None:
    """Nothing that a student wrote is more than text in them."""
    files = [file for file in out.rglob("*") if file.is_file()]
    assert len(files) > 100
    for file in files:
        text = file.read_text("utf-8")
        assert not set(text) & {"\x1b", "\x07", "\x9b", "\0"}, file
        if file.suffix == ".html":
            assert not re.search(r"<script>(document|alert)|<img src=x|<b>RED", text), file
            assert "javascript:" not in text.replace("(javascript:", ""), file
        if file.suffix == ".csv":
            assert not re.search(r'(^|[,\n])"?[=@+]', text), file


def test_there_is_a_submission_for_each_way_to_cheat_and_it_says_what_it_does() -> None:
    files = [*hostile.hostile_files(), *hostile.hostile_files(known=True)]
    names = [*(file.stem for file in files), *hostile.MADE, *hostile.BESIDE, *hostile.ZIPS]
    assert len(names) == len(set(names)) > 100
    for file in files:
        assert ast.get_docstring(ast.parse(file.read_text("utf-8"))), file


@linux
@pytest.mark.xfail(strict=True, reason="it needs to be observed from outside its process")
@pytest.mark.parametrize("file", hostile.hostile_files(known=True), ids=lambda file: file.stem)
def test_what_knows_the_lab_and_hides_it_gets_nothing(file: Path, lab_runner: WarmRunner) -> None:
    verdict = check(hostile.exercise_of(file), file, seed=SEED, runner=lab_runner)
    assert verdict.points == 0
