"""A process that grades is ended from the main thread while another one waits for its answer."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from grader.batch import grading_process
from grader.batch.grading_process import GradingProcess


def test_ctrl_c_ends_a_process_that_its_own_thread_lets_go_of_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    process = GradingProcess(shut_in=False)
    started = process._process = subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE, start_new_session=True)

    def forgotten_meanwhile(_left: Callable[[], Any]) -> None:
        process._forget()

    monkeypatch.setattr(grading_process, "end_others", forgotten_meanwhile)
    process.kill()
    assert started.poll() is not None
