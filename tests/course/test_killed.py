"""The real program, killed at random moments while one types, saves, runs and checks: nothing saved is lost.

Four moments, to be quick; PROFILE_FIRST_KILLS=50 takes as many as one wants.
"""

from __future__ import annotations

import os
import random
import sqlite3
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from course import progress, workspace
from tests.course.real_terminal import PATIENCE_S, RealTerminal

EXERCISE = "synchronize/time_on_the_gpu"
SOLUTION = Path(__file__).parents[2] / "solutions" / f"{EXERCISE}.py"
KILLS = int(os.environ.get("PROFILE_FIRST_KILLS", "4"))
SEED = 20_261
PHASES = ("typing", "saving", "running", "checking")
CTRL_END, CTRL_S = "\x1b[1;5F", "\x13"
MAY_BE_LOST_S = 1.0
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked up in /proc"),
]


@dataclass
class Typed:
    """What was typed, and when it had been taken in."""

    words: list[tuple[str, float]] = field(default_factory=list)
    slowest_s: float = 0.0
    """The longest time from a key to the screen: as long as this machine may be late with anything else."""

    def kept_for_sure(self, killed_s: float) -> list[str]:
        """The words that must have been saved when the program was killed."""
        latest_s = killed_s - MAY_BE_LOST_S - 3 * self.slowest_s
        return [word for word, shown_s in self.words if shown_s < latest_s]


def type_words(terminal: RealTerminal, typed: Typed, name: str, pauses_s: Iterator[float], until_s: float) -> None:
    """Type word after word, each once the one before is on the screen, until some time."""
    number = 0
    while time.monotonic() < until_s or not number:
        word = f"{name}.{number}"
        began_s = time.monotonic()
        terminal.press(f" {word}")
        terminal.read_until(word)
        shown_s = time.monotonic()
        typed.words.append((word, shown_s))
        typed.slowest_s = max(typed.slowest_s, shown_s - began_s)
        number += 1
        time.sleep(next(pauses_s))


def processes_of(home: Path) -> list[int]:
    """All processes that were started by a course with this home."""
    wanted = f"PROFILE_FIRST_HOME={home}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                environment = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if wanted in environment:
                found.append(int(folder.name))
    return found


def lines_of(own: workspace.Workspace) -> str:
    return own.path(EXERCISE).read_text("utf-8")


def until_killed(terminal: RealTerminal, phase: str, typed: Typed, name: str, chance: random.Random) -> float:
    """Do what the phase is about, and kill the program somewhere in it; when that was."""
    pauses_s = iter(lambda: chance.choice((0.0, 0.01, 0.05, 0.2)), None)
    terminal.read_until("F7")
    terminal.press("f3")
    terminal.read_until("leaves the editor")
    terminal.press(CTRL_END, "\r#")
    now_s = time.monotonic()
    type_words(terminal, typed, name, pauses_s, now_s + chance.uniform(0.0, 4.0 if phase == "typing" else 0.5))
    if phase == "saving":
        terminal.press(CTRL_S)
        time.sleep(chance.uniform(0.0, 0.05))
    elif phase != "typing":
        if warm := chance.random() < 0.5:
            terminal.press("f5")
            terminal.read_until("Finished" if phase == "checking" else "products")
        terminal.press("f5" if phase == "running" and not warm else "f6" if phase == "checking" else "")
        time.sleep(chance.uniform(0.0, 2.5))
    killed_s = time.monotonic()
    terminal.process.kill()
    terminal.process.wait()
    terminal.close()
    return killed_s


def test_killed_at_random_moments_it_loses_nothing_that_was_saved(home: Path) -> None:
    chance = random.Random(SEED)
    own = workspace.at_home()
    own.open(EXERCISE)
    own.save(EXERCISE, SOLUTION.read_text("utf-8"))
    with progress.at_home() as kept:
        kept.move_to(*EXERCISE.split("/"))
    checked = 0
    for number in range(KILLS):
        phase = PHASES[number % len(PHASES)]
        before = lines_of(own)
        terminal, typed = RealTerminal(home), Typed()
        killed_s = until_killed(terminal, phase, typed, f"{phase[0]}{number}", chance)
        case = f"kill {number}, while {phase}"

        text = lines_of(own)
        assert text.startswith(before.rstrip("\n")), case
        missing = [word for word in typed.kept_for_sure(killed_s) if word not in text]
        assert not missing, f"{case}: {missing} of {typed.words[-1]}"

        with progress.at_home() as kept:
            assert kept.notice is None, case
            assert kept.place() == progress.Place(*EXERCISE.split("/")), case
            best = kept.best().get(EXERCISE)
            attempts = best.attempts if best else 0
            # A verdict counts at once when it is there, and never twice.
            assert checked <= attempts <= checked + (phase == "checking"), case
            assert best is None or best.passed, case
            checked = attempts
        with sqlite3.connect(home / "progress.sqlite3") as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",), case

        deadline_s = time.monotonic() + PATIENCE_S
        while left := processes_of(home):
            assert time.monotonic() < deadline_s, f"{case}: {left} still run"
            time.sleep(0.05)

    last = RealTerminal(home)
    last.read_until("F7")
    last.press("\x11")
    assert last.process.wait(PATIENCE_S) == 0
    last.close()
