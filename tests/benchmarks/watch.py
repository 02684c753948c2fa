"""From saving a file to its verdict under `profile-first watch`, beside a `check` of it: wall seconds.

    python tests/benchmarks/watch.py [RUNS [EXERCISE...]]

Each run saves the solution and then the starter, atomically, as editors do. A save is timed from just before it to the
arrival of the verdict's line. "program" is what the verdict says that it waited for processes with the submission in
them, or with what it is compared with; "else" is all the rest: noticing, reading, starting processes, the checks. The
other column is a whole new `check` of the solution, for each exercise between its saves.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from grader.check import exercise_ids

ROOT = Path(__file__).parents[2]


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    exercises = sys.argv[2:] or exercise_ids()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(PROFILE_FIRST_HOME=home, OMP_NUM_THREADS="1")
        command = [sys.executable, "-m", "course", "watch", "--json", *exercises]
        watching = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True, start_new_session=True)
        for _ in exercises:
            verdict(watching)
        print(f"{os.cpu_count()} processors, median (most) of {2 * runs} saves\n")
        print(f"{'exercise':40} {'all':>13} {'program':>8} {'else':>13} {'a new check':>12}")
        others = []
        for exercise in exercises:
            saved, program, other = [], [], []
            for _ in range(runs):
                for folder in ("solutions", "exercises"):
                    text = (ROOT / folder / f"{exercise}.py").read_text("utf-8")
                    began_s = time.perf_counter()
                    save(Path(home) / "workspace" / f"{exercise}.py", text)
                    told = verdict(watching)
                    saved.append(time.perf_counter() - began_s)
                    assert (told["verdict"]["status"] == "passed") == (folder == "solutions"), told
                    program.append(told["program_s"])
                    other.append(saved[-1] - program[-1])
            others += other
            print(
                f"{exercise:40} {statistics.median(saved):6.2f} ({max(saved):.2f}) {statistics.median(program):8.2f} "
                f"{statistics.median(other):6.2f} ({max(other):.2f}) {new_check(exercise):12.2f}",
                flush=True,
            )
        print(f"{'everything else, of all saves':62} {statistics.median(others):6.2f} ({max(others):.2f})")
        watching.terminate()
        watching.wait()


def save(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text, "utf-8")
    temporary.replace(path)


def verdict(watching: subprocess.Popen[str]) -> dict[str, Any]:
    assert watching.stdout is not None
    told: dict[str, Any] = json.loads(watching.stdout.readline())
    return told


def new_check(exercise: str) -> float:
    command = [sys.executable, "-m", "course", "check", str(ROOT / "solutions" / f"{exercise}.py")]
    began_s = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - began_s


if __name__ == "__main__":
    main()
