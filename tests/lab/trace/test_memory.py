"""Large traces are read in pieces: decoding them at once takes nearly four times their text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.trace.traces import input_bound, write

PEAK = """
import re, sys
from lab.trace import diagnose
def peak_bytes():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
before = peak_bytes()
found = diagnose(sys.argv[1])
print(found.verdict.bottleneck, found.steps.count, peak_bytes() - before)
"""


def peak_and_size(file: Path, steps: int) -> tuple[int, int]:
    """How much more memory the diagnosis takes at its peak than before it, and the size of the file."""
    write(file, input_bound(steps))
    done = subprocess.run([sys.executable, "-c", PEAK, str(file)], capture_output=True, text=True, check=True)
    bottleneck, counted, more_bytes = done.stdout.split()
    assert (bottleneck, int(counted)) == ("input", steps)
    return int(more_bytes), file.stat().st_size


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system doesn't tell a process's peak")
def test_memory_grows_by_less_than_one_and_a_half_times_the_text(tmp_path: Path) -> None:
    peak, size = peak_and_size(tmp_path / "small.json", 10_000)
    larger_peak, larger_size = peak_and_size(tmp_path / "large.json", 40_000)
    assert larger_peak - peak < 1.5 * (larger_size - size)
