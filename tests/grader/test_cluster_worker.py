"""What one worker of a cluster says, whatever its own locale and whatever its other threads do."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from grader.batch import cluster
from grader.batch.cluster import Checked, check_here
from grader.verdict import Verdict
from lab.language import ENGLISH, LANGUAGES, current, speaking

ROOT = Path(__file__).parents[2]
EXERCISE = "synchronize/time_on_the_gpu"


@pytest.fixture(autouse=True)
def speaks_english_again() -> Iterator[None]:
    """A worker goes on in the language of the class; the tests are its process."""
    with speaking(ENGLISH):
        yield


@pytest.mark.slow
def test_a_worker_says_what_it_checked_in_the_language_of_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its own locale."""
    monkeypatch.setenv("PROFILE_FIRST_LANG", "fr")
    monkeypatch.setenv("LC_ALL", "fr_FR.UTF-8")
    data = (ROOT / "exercises" / f"{EXERCISE}.py").read_bytes()
    said = {}
    for language in LANGUAGES:
        answer = check_here(EXERCISE, "x.py", data, 5, False, None, language)
        verdict = msgspec.json.decode(answer, type=Checked).verdict
        assert verdict is not None
        assert verdict.language == language
        said[language] = re.sub(r"[\d.,]+", "#", repr([(check.name, check.message) for check in verdict.checks]))
    assert len(set(said.values())) == len(LANGUAGES)


def test_two_threads_of_a_worker_check_each_in_the_language_of_its_class(monkeypatch: pytest.MonkeyPatch) -> None:
    both_begun = threading.Barrier(2, timeout=60)
    asked: dict[str, str] = {}

    class Process:
        layers: list[str] = []  # noqa: RUF012

        def check(self, exercise: str, path: Path, seed: int, language: str | None = None) -> Verdict:
            asked[path.name] = language or current()
            return Verdict(exercise, "passed", 0, 0, [], None, seed, 0.0, "", "1")

    def process(shut_in: bool, longest_run_s: float | None) -> Process:
        both_begun.wait()
        return Process()

    monkeypatch.setattr(cluster, "_grading_process", process)
    with ThreadPoolExecutor(2) as threads:
        begun = [
            threads.submit(check_here, EXERCISE, f"{language}.py", b"", 5, False, None, language)
            for language in ("fr", "it")
        ]
        for each in begun:
            each.result(60)
    assert asked == {"fr.py": "fr", "it.py": "it"}
