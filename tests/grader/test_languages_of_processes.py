"""What a process that we start says is in the language of whoever started it, from its first word on."""

from __future__ import annotations

import pytest

from grader.batch.grading_process import GradingProcess
from grader.errors import RunnerUnavailable
from lab.language import speaking


def test_why_nothing_can_be_graded_is_said_in_the_language_of_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFILE_FIRST_GPU", "fast")
    monkeypatch.setenv("PROFILE_FIRST_LANG", "fr")
    with (
        speaking("it"),
        GradingProcess(shut_in=False) as process,
        pytest.raises(RunnerUnavailable, match=r"^PROFILE_FIRST_GPU è 'fast'"),
    ):
        process.start()
