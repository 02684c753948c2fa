"""Archives are opened where nobody else looks, and nothing of them stays, however the program ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.submissions import private

MAKE = """
import os, signal
from grader.submissions.private import private_folder
print(private_folder(), flush=True)
{}
"""
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs locks that end with their process")


def made(folder: Path, then: str) -> tuple[Path, int]:
    """A folder that another process made for itself, and how that process ended."""
    done = subprocess.run(
        [sys.executable, "-c", MAKE.format(then)],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return Path(done.stdout.strip()), done.returncode


def test_it_goes_with_its_process(tmp_path: Path) -> None:
    assert not made(tmp_path, "")[0].exists()


def test_that_of_a_killed_process_is_removed_by_the_next_one(tmp_path: Path) -> None:
    left, ended = made(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    assert ended == -signal.SIGKILL
    assert left.is_dir()
    made(tmp_path, "")
    assert list(tmp_path.iterdir()) == []


def test_that_of_a_process_which_still_runs_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mine = private.private_folder()
    made(tmp_path, "")
    assert mine.is_dir()
    assert mine.stat().st_mode & 0o077 == 0
