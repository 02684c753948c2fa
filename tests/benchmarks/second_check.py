"""A second check of the same exercise, beside a cold pytest process that only imports torch: wall and CPU seconds.

    python tests/benchmarks/second_check.py [RUNS]

The check goes the app's way: through the grader's own process, whose warm process has imported torch. CPU seconds are
those of all child processes that have ended, so they leave out what the warm process itself uses.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grader.client import Grader

ROOT = Path(__file__).parents[2]
EXERCISE = "synchronize/time_on_the_gpu"


def cold(folder: Path) -> float:
    test = folder / "test_cold.py"
    test.write_text("import torch\n\n\ndef test_torch_is_there():\n    assert torch.ones(2).sum() == 2\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(test)]
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return time.perf_counter() - began


async def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    submission = ROOT / "solutions" / f"{EXERCISE}.py"
    grader = Grader()
    await grader.start()
    began = time.perf_counter()
    verdict = await grader.check(EXERCISE, submission)
    first = time.perf_counter() - began
    checks, colds = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(runs):
            began = time.perf_counter()
            verdict = await grader.check(EXERCISE, submission, seed)
            checks.append(time.perf_counter() - began)
            assert verdict.status == "passed", verdict
            colds.append(cold(Path(folder)))
    await grader.close()
    check_s, cold_s = statistics.median(checks), statistics.median(colds)
    print(f"{os.cpu_count()} processors, {runs} runs in turns, median (min-max) of wall seconds")
    print(f"first check, with warming up       {first:6.2f}")
    print(f"a later check of {EXERCISE:17} {check_s:6.2f} ({min(checks):.2f}-{max(checks):.2f})")
    print(f"cold pytest that imports torch     {cold_s:6.2f} ({min(colds):.2f}-{max(colds):.2f})")
    print(f"ratio                              {check_s / cold_s:6.2f}")


if __name__ == "__main__":
    asyncio.run(main())
