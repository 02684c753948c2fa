"""Files are checked again when they are saved, however an editor saves them, and nothing ends but by Ctrl+C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest

from course import progress, saves, workspace
from course.saves import Saves
from grader.quiz import read_answers

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60
EXERCISE, QUIZ = "synchronize/time_on_the_gpu", "synchronize/quiz"
RIGHT = {question: answer.right for question, answer in read_answers("synchronize").items()}
SOLUTION = (ROOT / "solutions" / f"{EXERCISE}.py").read_text("utf-8")

Write = Callable[[Path, str], None]


# Noticing


def in_place(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


def atomically(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text, "utf-8")
    temporary.replace(path)


def with_a_backup(path: Path, text: str) -> None:
    """As Vim does: the old file gets another name, and a new one is written."""
    path.rename(path.with_name(f"{path.name}~"))
    path.write_text(text, "utf-8")


def deleted_first(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text, "utf-8")


def twice(path: Path, text: str) -> None:
    path.write_text("", "utf-8")
    path.write_text(text, "utf-8")
    os.utime(path)


WAYS = [in_place, atomically, with_a_backup, deleted_first, twice]


class Noticed:
    """What was noticed, and what the file held then."""

    def __init__(self, path: Path, *, poll: bool) -> None:
        self.queue: Queue[str] = Queue()
        self.told: list[str] = []
        self.saves = Saves(
            [path], lambda file, _: self.queue.put(file.read_text("utf-8")), poll=poll, tell=self.told.append
        )
        self.saves.start()

    def until(self, text: str) -> list[str]:
        seen: list[str] = []
        while text not in seen:
            seen.append(self.queue.get(timeout=PATIENCE_S))
        return seen


@pytest.fixture(params=[False, True], ids=["events", "polling"])
def noticed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Noticed]:
    path = tmp_path / "folder" / "file.py"
    path.parent.mkdir()
    path.write_text("first")
    noticing = Noticed(path, poll=request.param)
    yield noticing
    noticing.saves.end()


@pytest.mark.parametrize("write", WAYS)
def test_a_save_is_noticed_once_and_whole_however_the_editor_writes(
    write: Write, noticed: Noticed, tmp_path: Path
) -> None:
    path = tmp_path / "folder" / "file.py"
    for text in ("second", "third" * 10_000):
        write(path, text)
        assert noticed.until(text)[-1] == text
    write(path, "last")
    assert "last" not in noticed.until("last")[:-1]
    with pytest.raises(Empty):
        noticed.queue.get(timeout=0.2)


def test_other_files_and_the_same_text_again_are_nothing_new(noticed: Noticed, tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file.py"
    (tmp_path / "folder" / "other.py").write_text("x")
    path.write_text("first")
    path.write_text("second")
    assert noticed.until("second") == ["second"]


def test_a_folder_that_is_removed_and_made_again_is_watched_on(noticed: Noticed, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    for n in range(2):
        folder.rename(tmp_path / f"old{n}")
        folder.mkdir()
        (folder / "file.py").write_text(f"new{n}")
        noticed.until(f"new{n}")


def test_where_the_system_reports_nothing_files_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Iterator[None]:
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(saves, "_reports", refuse)
    path = tmp_path / "file.py"
    noticing = Noticed(path, poll=False)
    path.write_text("text")
    noticing.until("text")
    assert "inotify watch limit reached" in noticing.told[0]
    noticing.saves.end()


# Checking


class Watching:
    """`profile-first watch --json` in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "course", "watch", "--json", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PROFILE_FIRST_GPU": "simulated"},
            start_new_session=True,
        )
        self.verdicts: Queue[dict[str, Any]] = Queue()
        self.told: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.verdicts.put(json.loads(line))

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.told.put(line)

    def next(self) -> dict[str, Any]:
        return self.verdicts.get(timeout=PATIENCE_S)

    def hears(self, words: str) -> None:
        while words not in self.told.get(timeout=PATIENCE_S):
            pass

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)


@pytest.fixture
def watching(home: Path) -> Iterator[Callable[..., Watching]]:
    started: list[Watching] = []

    def watching(*arguments: str) -> Watching:
        started.append(Watching(*arguments))
        return started[-1]

    yield watching
    for each in started:
        each.process.kill()
        each.process.wait()


def test_an_exercise_is_checked_at_once_and_after_each_save_and_recorded(
    watching: Callable[..., Watching], home: Path
) -> None:
    watched = watching(QUIZ)
    first = watched.next()
    assert (first["verdict"]["exercise"], first["verdict"]["status"]) == (QUIZ, "unanswered")
    workspace.at_home().save_answers("synchronize", RIGHT)
    after = watched.next()
    assert after["verdict"]["status"] == "passed"
    assert after["total_s"] == pytest.approx(after["program_s"] + after["else_s"], abs=0.01)
    workspace.at_home().save_answers("synchronize", {})
    assert watched.next()["verdict"]["status"] == "unanswered"
    assert watched.interrupt() == 130
    with progress.at_home() as kept:
        assert kept.best()[QUIZ].passed


def test_without_a_name_every_exercise_is_watched(watching: Callable[..., Watching], home: Path) -> None:
    watched = watching()
    watched.hears("watching all exercises")
    own = workspace.at_home()
    own.save_answers("synchronize", RIGHT)
    own.save_answers("diagnosis", {})
    assert {watched.next()["verdict"]["exercise"] for _ in range(2)} == {QUIZ, "diagnosis/quiz"}


def test_a_notebook_elsewhere_is_watched(watching: Callable[..., Watching], tmp_path: Path) -> None:
    path = tmp_path / "mine.ipynb"
    path.write_text("")
    watched = watching(str(path), "--exercise", QUIZ, "--poll")
    assert watched.next()["verdict"]["status"] == "error"
    cell = {"cell_type": "code", "source": f"answers = {RIGHT!r}", "metadata": {}, "outputs": []}
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]}))
    assert watched.next()["verdict"]["status"] == "passed"
    path.unlink()
    path.write_text('{"nbformat": 4,')
    assert watched.next()["verdict"]["status"] == "error"


def test_where_no_progress_can_be_kept_checks_go_on(watching: Callable[..., Watching], home: Path) -> None:
    watched = watching(QUIZ)
    watched.next()
    for file in home.glob("progress.sqlite3*"):
        file.unlink()
    (home / "progress.sqlite3").mkdir()
    for answers, status in ((RIGHT, "passed"), ({}, "unanswered")):
        workspace.at_home().save_answers("synchronize", answers)
        assert watched.next()["verdict"]["status"] == status
    watched.hears("can't be opened")


def test_a_wrong_name_is_wrong_usage(watching: Callable[..., Watching]) -> None:
    watched = watching("synchronize/no_such")
    watched.hears("there is no exercise 'synchronize/no_such'")
    assert watched.process.wait(PATIENCE_S) == 2


@pytest.mark.slow
def test_code_is_checked_through_syntax_errors_loops_and_saves_during_a_check(
    watching: Callable[..., Watching], home: Path
) -> None:
    watched = watching(EXERCISE)
    assert watched.next()["verdict"]["status"] == "failed"
    path = workspace.at_home().path(EXERCISE)
    atomically(path, "def time_on_the_gpu(")
    broken = watched.next()["verdict"]
    assert broken["status"] == "error"
    assert "isn't valid Python" in broken["checks"][0]["message"]
    began = path.with_name("began")
    loop = f"import pathlib, time\n\ndef time_on_the_gpu(work):\n    pathlib.Path({str(began)!r}).touch()\n"
    in_place(path, loop + "    while True:\n        time.sleep(0.01)\n")
    pause = threading.Event()
    while not began.exists():
        pause.wait(0.05)
    with_a_backup(path, SOLUTION)
    saved = watched.next()
    assert saved["verdict"]["status"] == "passed"  # and not the verdict on the loop
    assert saved["program_s"] > 0
    assert watched.interrupt() == 130
