"""The same twelve submissions graded by nbgrader, by otter-grader and by this, in one run; and a class that grows.

    python tests/benchmarks/grading.py [--venvs DIR] [--growth 50,200,1000] [--only NAME]

The exercise for all three is three small functions, each with two checks, handed in as notebooks; four of the twelve
are wrong. nbgrader and otter-grader get virtual environments of their own, made with pip where they aren't there yet.
This grader runs each submission shut in; the others run it with the user's rights. Beside it stands `grade` as it is:
twelve submissions of an exercise of the course, with torch, a simulated GPU and all reports.

CPU seconds are those of all processes; the memory is the most that all processes had together, each page counted once.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from grader.runner.descendants import adopt_orphans, descendants, memory_bytes, reap  # noqa: E402

PACKAGES = {"nbgrader": ["nbgrader==0.9.6"], "otter": ["otter-grader==7.0.0", "ipykernel"]}
STUDENTS = 12
LOOK_S = 0.1
TORCH_EXERCISE = "torch_profiler/schedule_and_export"

FUNCTIONS = {
    "clip": "def clip(value, low, high):\n    return {} max(low, min(value, high))",
    "mean": "def mean(values):\n    return {} sum(values) / len(values)",
    "runs": "def runs(text):\n    return {} sum(a != b for a, b in zip(text, text[1:])) + bool(text)",
}
CHECKS = {
    "clip": ("clip(5, 1, 3) == 3", "clip(-5, -2, 3) == -2"),
    "mean": ("mean([1, 2, 6]) == 3", "mean([5]) == 5"),
    "runs": ("runs('aabba') == 3", "runs('') == 0"),
}
OURS = '''"""Three small functions."""

import pytest


def value(submission, function, *arguments):
    return submission.call(function, *arguments).value


@pytest.mark.points(2)
def test_clip(submission):
    """clip"""
    assert value(submission, "clip", 5, 1, 3) == 3, "Too large."
    assert value(submission, "clip", -5, -2, 3) == -2, "Too small."


@pytest.mark.points(2)
def test_mean(submission):
    """mean"""
    assert value(submission, "mean", [1, 2, 6]) == 3, "Of three."
    assert value(submission, "mean", [5]) == 5, "Of one."


@pytest.mark.points(2)
def test_runs(submission):
    """runs"""
    assert value(submission, "runs", "aabba") == 3, "Of three."
    assert value(submission, "runs", "") == 0, "Of none."
'''
# What a class's grading does, with checks of another folder than the course's.
GRADE_OURS = """
import json, sys
from pathlib import Path
from grader.check import check
from grader.runner import bubblewrap
from grader.runner.warm import WarmRunner
checks, given = Path(sys.argv[1]), Path(sys.argv[2])
with WarmRunner(shut_in=True, bubble=bubblewrap.find()[0]) as runner:
    print(json.dumps([check("bench/ps1", file, seed=1, runner=runner, checks=checks).points
                      for file in sorted(given.glob("*/ps1/ps1.ipynb"))]))
"""


class Used(NamedTuple):
    """What a command took."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def measured(act: Callable[[], Any]) -> tuple[Any, Used]:
    """Carry something out in child processes, and watch their memory."""
    peak, over = 0, threading.Event()

    def look() -> None:
        nonlocal peak
        while not over.wait(LOOK_S):
            peak = max(peak, sum(map(memory_bytes, descendants(os.getpid()))))

    watching = threading.Thread(target=look)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    watching.start()
    try:
        came = act()
    finally:
        over.set()
        watching.join()
    while reap()[1]:  # whose parents didn't wait for them; their CPU seconds count only then
        time.sleep(0.01)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return came, Used(time.monotonic() - began, cpu_s, peak)


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def program(venvs: Path, name: str) -> Path:
    """The folder of programs of one of the others' virtual environments."""
    folder = venvs / name
    if not (folder / "bin" / name).exists():
        print(f"installing {' '.join(PACKAGES[name])} into {folder}", file=sys.stderr)
        run(sys.executable, "-m", "venv", folder, cwd=venvs)
        run(folder / "bin" / "pip", "install", "-q", *PACKAGES[name], cwd=venvs)
    return folder / "bin"


# The submissions


def cell(source: str, kind: str = "code", **metadata: Any) -> dict[str, Any]:
    only_code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    name = metadata.get("nbgrader", {}).get("grade_id", "text")
    return {"cell_type": kind, "id": name, "metadata": metadata, "source": source, **only_code}


def notebook(wrong: bool, *, checks: bool) -> str:
    """A student's notebook; with nbgrader's checks in it where nbgrader is to grade it."""
    cells = [cell("# Three functions", "markdown")]
    for number, (name, source) in enumerate(FUNCTIONS.items()):
        answer = {"grade": False, "solution": True, "locked": False, "task": False, "schema_version": 3}
        given = source.format("1 +" if wrong and number == 1 else "")
        cells.append(cell(given, nbgrader={**answer, "grade_id": name, "cell_type": "code"}))
        if checks:
            graded = {**answer, "grade": True, "solution": False, "locked": True, "points": 2}
            asserts = "\n".join(f"assert {each}" for each in CHECKS[name])
            cells.append(cell(asserts, nbgrader={**graded, "grade_id": f"check_{name}", "cell_type": "code"}))
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": spec, "cells": cells})


def hand_in(folder: Path, *, checks: bool, students: int = STUDENTS) -> list[int]:
    """As many students' notebooks, and the points that they deserve."""
    for number in range(students):
        file = folder / f"student{number:02}" / "ps1" / "ps1.ipynb"
        file.parent.mkdir(parents=True)
        file.write_text(notebook(number % 3 == 0, checks=checks))
    return [4 if number % 3 == 0 else 6 for number in range(students)]


# The graders


def by_nbgrader(folder: Path, venvs: Path) -> tuple[bool, Used]:
    bin_ = program(venvs, "nbgrader")
    source = folder / "source" / "ps1" / "ps1.ipynb"
    source.parent.mkdir(parents=True)
    source.write_text(notebook(False, checks=True))
    expected = hand_in(folder / "submitted", checks=True)
    path = {"PATH": f"{bin_}:{os.environ['PATH']}", "PYTHONPATH": ""}
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'bench'\n")
    run(bin_ / "nbgrader", "generate_assignment", "ps1", cwd=folder, **path)
    _, used = measured(lambda: run(bin_ / "nbgrader", "autograde", "ps1", cwd=folder, **path))
    told = run(
        *(bin_ / "python", "-c"),
        "from nbgrader.api import Gradebook\nimport json\nwith Gradebook('sqlite:///gradebook.db') as book:\n"
        "    found = sorted(book.assignment_submissions('ps1'), key=lambda each: each.student.id)\n"
        "    print(json.dumps([each.score for each in found]))",
        cwd=folder,
        **path,
    )
    return json.loads(told.splitlines()[-1]) == expected, used


def by_otter(folder: Path, venvs: Path) -> tuple[bool, Used]:
    bin_ = program(venvs, "otter")
    tests = folder / "tests"
    tests.mkdir()
    for name, checks in CHECKS.items():
        cases = [{"code": f">>> assert {each}", "hidden": False, "locked": False} for each in checks]
        suite = {"cases": cases, "scored": True, "setup": "", "teardown": "", "type": "doctest"}
        test = {"name": name, "points": 2, "suites": [suite]}
        (tests / f"{name}.py").write_text(f"OK_FORMAT = True\ntest = {test!r}\n")
    expected = hand_in(folder / "submitted", checks=False)
    path = {"PATH": f"{bin_}:{os.environ['PATH']}", "PYTHONPATH": ""}
    grader = folder / "autograder.zip"
    run(bin_ / "otter", "generate", "-t", tests, "-o", grader, "--no-environment", cwd=folder, **path)
    got = []

    def act() -> None:
        for number in range(STUDENTS):
            out = folder / f"out{number:02}"
            out.mkdir()
            submission = folder / "submitted" / f"student{number:02}" / "ps1" / "ps1.ipynb"
            run(bin_ / "otter", "run", "-a", grader, "-o", out, submission, cwd=folder, **path)
            told = json.loads((out / "results.json").read_text())
            got.append(sum(each.get("score", 0) for each in told["tests"] if each.get("max_score")))

    _, used = measured(act)
    return got == expected, used


def by_us(folder: Path, _: Path) -> tuple[bool, Used]:
    checks = folder / "checks" / "bench" / "test_ps1.py"
    checks.parent.mkdir(parents=True)
    checks.write_text(OURS)
    expected = hand_in(folder / "submitted", checks=False)
    command = (sys.executable, "-c", GRADE_OURS, folder / "checks", folder / "submitted")
    said, used = measured(lambda: run(*command, cwd=ROOT, PROFILE_FIRST_GPU="simulated"))
    right = json.loads(said.splitlines()[-1]) == expected
    shutil.rmtree(folder / "submitted")
    hand_in(folder / "submitted", students=1, checks=False)
    _, first = measured(lambda: run(*command, cwd=ROOT, PROFILE_FIRST_GPU="simulated"))
    later = Used(used.wall_s - first.wall_s, used.cpu_s - first.cpu_s, used.peak_bytes)
    told("this, after the first one", right, later, STUDENTS - 1)
    return right, used


def by_the_command(folder: Path, _: Path, students: int = STUDENTS, jobs: int = 1) -> tuple[bool, Used]:
    given = folder / "submitted"
    right, unfinished = (ROOT / part / f"{TORCH_EXERCISE}.py" for part in ("solutions", "exercises"))
    for number in range(students):
        file = given / f"student{number:04}" / f"{TORCH_EXERCISE}.py"
        file.parent.mkdir(parents=True)
        file.write_bytes((unfinished if number % 3 == 0 else right).read_bytes() + f"# {number}\n".encode())
    command = [sys.executable, "-m", "grader", "grade", given, "--out", folder / "out", "--jobs", str(jobs)]
    _, used = measured(lambda: run(*command, "--seed", "1", cwd=ROOT, PROFILE_FIRST_GPU="simulated"))
    rows = (folder / "out" / "gradebook.csv").read_text("utf-8-sig").splitlines()
    return len(rows) == students + 1, used


GRADERS: dict[str, tuple[str, Callable[[Path, Path], tuple[bool, Used]]]] = {
    "nbgrader": ("nbgrader autograde", by_nbgrader),
    "otter": ("otter run", by_otter),
    "ours": ("this, the same functions", by_us),
    "grade": ("this, `grade` with torch", by_the_command),
}


def told(name: str, right: bool, used: Used, students: int) -> None:
    each = f"{used.wall_s / students:8.3f} {used.cpu_s / students:8.3f}"
    whole = f"{used.wall_s:8.1f} {used.cpu_s:8.1f} {used.peak_bytes / 2**20:7.0f}"
    print(f"{name:28} {each} {whole}  {'right' if right else 'NOT AS EXPECTED'}", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--venvs", type=Path, default=Path(tempfile.gettempdir()) / "graders-to-compare")
    arguments.add_argument("--growth", default="50,200,1000", help="sizes of the class that grows; empty for none")
    arguments.add_argument("--jobs", type=int, default=2, help="for the class that grows")
    arguments.add_argument("--only", choices=GRADERS, action="append")
    options = arguments.parse_args()
    adopt_orphans()
    options.venvs.mkdir(parents=True, exist_ok=True)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; {STUDENTS} submissions")
    print(f"{'':28} {'wall/sub':>8} {'CPU/sub':>8} {'wall s':>8} {'CPU s':>8} {'MiB':>7}")
    for name in options.only or GRADERS:
        shown, grade = GRADERS[name]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            told(shown, *grade(Path(folder), options.venvs), STUDENTS)
    for size in [int(size) for size in options.growth.split(",") if size]:
        folder = Path(tempfile.mkdtemp())
        told(f"`grade`, {size} students", *by_the_command(folder, options.venvs, size, options.jobs), size)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
