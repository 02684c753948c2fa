"""What one worker of a cluster says, whatever its own locale and whatever its other threads do."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from grader.batch import cluster
from grader.batch.cluster import Checked, check_here
from grader.verdict import Verdict
from lab.language import ENGLISH, LANGUAGES, current

ROOT = Path(__file__).parents[2]
EXERCISE = "synchronize/time_on_the_gpu"


@pytest.mark.slow
def test_a_worker_says_what_it_checked_in_the_language_of_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its own locale."""
    monkeypatch.setenv("PROFILE_FIRST_LANG", "fr")
    monkeypatch.setenv("LC_ALL", "fr_FR.UTF-8")
    data = (ROOT / "exercises" / f"{EXERCISE}.py").read_bytes()
    said = {}
    for language in (*LANGUAGES, None):
        answer = check_here(EXERCISE, "x.py", data, 5, False, None, language)
        verdict = msgspec.json.decode(answer, type=Checked).verdict
        assert verdict is not None
        assert verdict.language == (language or ENGLISH)
        said[language] = re.sub(r"[\d.,]+", "#", repr([(check.name, check.message) for check in verdict.checks]))
        assert current() == ENGLISH
    assert said[None] == said[ENGLISH]
    assert len(set(said.values())) == len(LANGUAGES)


def test_a_thread_that_ends_first_does_not_change_the_language_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    entered, left = threading.Event(), threading.Event()
    asked: list[str] = []

    class Process:
        layers: list[str] = []  # noqa: RUF012

        def check(self, exercise: str, path: Path, seed: int, language: str | None = None) -> Verdict:
            asked.append(language or current())
            return Verdict(exercise, "passed", 0, 0, [], None, seed, 0.0, "", "1")

    def process(shut_in: bool, longest_run_s: float | None) -> Process:
        if threading.current_thread().name.endswith("_0"):
            assert entered.wait(60)
        else:
            entered.set()  # the other one was there before
            assert left.wait(60)
        return Process()

    monkeypatch.setattr(cluster, "_grading_process", process)
    with ThreadPoolExecutor(2, thread_name_prefix="worker") as threads:
        first = threads.submit(check_here, EXERCISE, "x.py", b"", 5, False, None, "fr")
        second = threads.submit(check_here, EXERCISE, "y.py", b"", 5, False, None, "fr")
        first.result(60)
        left.set()
        second.result(60)
    assert asked == ["fr", "fr"]
