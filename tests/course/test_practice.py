"""Hints and a fresh start on the command line, in step with the app."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from course import catalog, progress, workspace
from course.cli import main
from tests.course.conftest import EXERCISE

QUIZ = "perf_counter/quiz"


def hints() -> tuple[str, ...]:
    step = catalog.load().step(EXERCISE)
    assert step is not None
    return step.hints


def test_each_call_shows_the_next_hint_until_there_are_no_more(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, hint in enumerate(hints(), 1):
        assert main(["hint", EXERCISE]) == 0
        assert capsys.readouterr().out == f"Hint {number} of {len(hints())}\n{hint}\n"
    assert main(["hint", EXERCISE]) == 0
    assert f"There are no more hints for {EXERCISE}" in capsys.readouterr().out


def test_hints_that_the_app_has_shown_are_not_shown_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with progress.at_home() as kept:
        kept.show_hints(EXERCISE, 2)
    assert main(["hint", EXERCISE, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "exercise": EXERCISE,
        "shown": 3,
        "total": len(hints()),
        "hints": [{"number": 3, "text": hints()[2]}],
    }
    with progress.at_home() as kept:
        assert kept.hints_shown(EXERCISE) == 3


def test_all_hints_can_be_seen_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main(["hint", EXERCISE, "--all"]) == 0
        shown = capsys.readouterr().out
        assert all(hint in shown for hint in hints())
    assert main(["hint", EXERCISE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hints"] == []


@pytest.mark.parametrize("command", ["hint", "reset"])
def test_only_exercises_have_hints_and_starters(command: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, told in ((QUIZ, "is a quiz"), ("perf_counter", "is a lesson"), ("perf_counter/warm_up", "Did you mean")):
        assert main([command, name]) == 2
        assert told in capsys.readouterr().err


def test_reset_puts_the_starter_back_and_says_where_the_code_is_kept(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = workspace.at_home()
    own.open(EXERCISE)
    own.save(EXERCISE, "mine = 1\n")
    assert main(["reset", EXERCISE]) == 0
    assert own.open(EXERCISE) == own.starter(EXERCISE)
    backup = Path(capsys.readouterr().out.splitlines()[1].removeprefix("Your code is kept as ").removesuffix("."))
    assert backup.read_text("utf-8") == "mine = 1\n"
    assert main(["reset", EXERCISE]) == 0
    assert "kept" not in capsys.readouterr().out


def test_reset_keeps_even_what_is_no_text(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = workspace.at_home()
    own.open(EXERCISE)
    own.path(EXERCISE).write_bytes(b"\xff\x00")
    assert main(["reset", EXERCISE]) == 0
    (backup,) = (own.folder / "perf_counter" / "backups").iterdir()
    assert backup.read_bytes() == b"\xff\x00"
    assert own.open(EXERCISE) == own.starter(EXERCISE)


def test_reset_of_an_exercise_that_was_not_begun_begins_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reset", EXERCISE]) == 0
    assert "is the starter now" in capsys.readouterr().out
    assert workspace.at_home().path(EXERCISE).exists()
