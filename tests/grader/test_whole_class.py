"""A whole class has the same results however many processes grade it, and however often they are killed on the way.

CLASS_SIZE=200 in the environment makes the class larger than the suite has time for.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grader.runner import seccomp
from grader.runner.confine import FIRST_ABI_WITH_FILES, landlock_abi
from tests.grader import hostile
from tests.grader.handed_in.conftest import zip_of
from tests.grader.test_red_team import results_in

SIZE = int(os.environ.get("CLASS_SIZE", "40"))
KILLS = 10
MOST_S = 15.0
"""The latest moment at which it is killed: about as long as starting takes, and some submissions."""
ENDED_WITHIN_S = 30.0
EXERCISES = (
    "synchronize/time_on_the_gpu",
    "torch_profiler/profile_one_step",
    "torch_profiler/schedule_and_export",
    "key_averages/hottest_operator",
    "key_averages/group_by_input_shape",
)
HOSTILE = (
    *("equal_to_everything", "not_a_number", "exits_in_the_call", "exits_when_imported", "system_exit"),
    *("kills_itself", "patched_clocks", "patched_json", "imports_the_solution", "reads_proc", "a_daemon"),
    *("endless_output", "an_error_that_exits", "writes_to_every_descriptor", "a_message_of_html"),
)
"""Those that can only end in one way: which of several limits is reached first is the machine's doing."""
TIMES = {"graded_at_s", "duration_s", "program_s"}
# What grades, killed in the middle: its parent takes in the orphans, and tells how many of them don't end.
KILLED = """
import json, os, signal, subprocess, sys, time
from grader.runner.descendants import adopt_orphans, descendants, is_running, reap
adopt_orphans()
process = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
try:
    process.wait(float(sys.argv[1]))
except subprocess.TimeoutExpired:
    process.kill()
    process.wait()
give_up_s = time.monotonic() + float(sys.argv[2])
while (left := [pid for pid in descendants(os.getpid()) if is_running(pid)]) and time.monotonic() < give_up_s:
    reap()
    time.sleep(0.01)
said = [open(f"/proc/{pid}/cmdline", "rb").read().decode(errors="replace") for pid in left]
for pid in left:
    os.kill(pid, signal.SIGKILL)
print(json.dumps([process.returncode, said]))
"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(
        sys.platform != "linux" or landlock_abi() < FIRST_ABI_WITH_FILES or not seccomp.supported(),
        reason="needs Landlock and a filter of system calls",
    ),
]


def write_class(folder: Path, size: int) -> None:
    """Starters, solutions, known mistakes and hostile submissions in turns, one for each student."""
    sources: list[tuple[str, Path]] = []
    for exercise in EXERCISES:
        wrong = sorted((hostile.HERE / "submissions" / exercise).glob("*.py"))
        kept = (hostile.ROOT / "solutions" / f"{exercise}.py", hostile.ROOT / "exercises" / f"{exercise}.py")
        sources += [(exercise, path) for path in (*kept, *wrong)]
    by_name = {file.stem: file for file in hostile.hostile_files()}
    sources += [(hostile.exercise_of(by_name[name]), by_name[name]) for name in HOSTILE]
    random.Random(1).shuffle(sources)
    for number in range(size):
        exercise, path = sources[number % len(sources)]
        if number % 10 == 0:
            hostile.put(folder / f"student {number:03}.zip", zip_of({f"{exercise}.py": path.read_bytes()}))
        else:
            hostile.hand_in(folder, f"student {number:03}", exercise, path.read_bytes())


def command(given: Path, out: Path, jobs: int) -> list[str]:
    grade = [sys.executable, "-m", "grader", "grade", str(given), "--out", str(out)]
    return [*grade, "--jobs", str(jobs), "--seed", "7", "--longest-run", "8"]


def run(arguments: list[str], temporary: Path) -> subprocess.CompletedProcess[str]:
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary), "PROFILE_FIRST_GPU": "simulated"}
    return subprocess.run(
        arguments, env=environment, cwd=hostile.ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def without_times(value: Any, name: str = "") -> Any:
    """Results without when and how long, and with # for each number in a message: it was measured."""
    if isinstance(value, dict):
        return {key: without_times(each, key) for key, each in value.items() if key not in TIMES}
    if isinstance(value, list):
        return [without_times(each) for each in value]
    return re.sub(r"\d+(\.\d+)?(e[-+]?\d+)?", "#", value) if name == "message" and value else value


def results_of(out: Path) -> dict[str, Any]:
    """All that is said of the class, by file."""
    found: dict[str, Any] = {"results.json": without_times(json.loads((out / "results.json").read_text("utf-8")))}
    for name in ("gradebook.csv", "gradebook-moodle.csv", "gradebook-canvas.csv", "not-assigned.csv"):
        found[name] = (out / name).read_bytes()
    for file in sorted(out.rglob("*")):
        found.setdefault(file.relative_to(out).as_posix(), "is there")
    return found


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Each file that differs, and the first place in it."""
    found = []
    for name in sorted({*one, *other}):
        mine, theirs = one.get(name), other.get(name)
        if mine != theirs:
            lines = [json.dumps(each, indent=1, default=repr).splitlines() for each in (mine, theirs)]
            first = next((pair for pair in zip(*lines, strict=False) if pair[0] != pair[1]), lines)
            found.append(f"{name}: {first}")
    return found


def test_the_results_are_the_same_with_two_processes_and_with_three(tmp_path: Path) -> None:
    write_class(tmp_path / "class", SIZE)
    for jobs in (2, 3):
        done = run(command(tmp_path / "class", tmp_path / f"out{jobs}", jobs), tmp_path / "temporary")
        assert done.returncode == 0, done.stderr
    assert "\n".join(differences(results_of(tmp_path / "out2"), results_of(tmp_path / "out3"))) == ""


def test_killed_at_ten_moments_and_continued_the_results_are_the_same_and_nothing_stays(tmp_path: Path) -> None:
    write_class(tmp_path / "class", SIZE)
    whole = run(command(tmp_path / "class", tmp_path / "whole", 2), tmp_path / "temporary")
    assert whole.returncode == 0, whole.stderr
    draw = random.Random(6)
    killed = tmp_path / "killed"
    ended = Counter[int]()
    for _ in range(KILLS):
        arguments = [sys.executable, "-c", KILLED, str(draw.uniform(0, MOST_S)), str(ENDED_WITHIN_S)]
        done = run([*arguments, *command(tmp_path / "class", killed, 2)], tmp_path / "temporary")
        assert done.returncode == 0, done.stderr
        exit_code, left = json.loads(done.stdout)
        assert left == []
        ended[exit_code] += 1
    assert ended[-signal.SIGKILL] > 1, ended
    last = run(command(tmp_path / "class", killed, 2), tmp_path / "temporary")
    assert last.returncode == 0, last.stderr
    assert "\n".join(differences(results_of(tmp_path / "whole"), results_of(killed))) == ""
    graded = Counter((each.attempt.student, each.attempt.exercise) for each in results_in(killed))
    assert set(graded.values()) == {1}
    assert len(graded) == SIZE
    assert [entry.name for entry in (tmp_path / "temporary").iterdir()] == []
