"""The real app with the real grader; one in a real terminal that is then closed."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

import pytest

from course import catalog, progress, workspace
from course.app.app import CourseApp
from course.app.grading import real_grader
from course.app.screens.exercise import ExerciseScreen
from tests.course.test_app import SMALL, editor, go_to, panel, press, shown, until

EXERCISE = "synchronize/time_on_the_gpu"
PATIENCE_S = 60
pytestmark = pytest.mark.slow


async def test_run_check_and_pass_an_exercise_with_the_real_grader(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFILE_FIRST_GPU", "simulated")
    own = workspace.at_home()
    with progress.at_home() as kept:
        app = CourseApp(catalog.load(), own, kept, real_grader)
        async with app.run_test(size=SMALL) as pilot:
            await go_to(pilot, app, EXERCISE)
            await until(pilot, lambda: "imulated" in app.gpu_in_words)
            await press(pilot, "f5")
            await until(pilot, lambda: app.job is None and "Finished" in panel(app).status.text.plain)
            assert "products" in panel(app).output.text
            await press(pilot, "f6")
            await until(pilot, lambda: "Not yet" in shown(app))
            assert "Ctrl+O" in shown(app)
            solution = Path(__file__).parents[2] / "solutions" / f"{EXERCISE}.py"
            await press(pilot, "f3")
            editor(app).text = solution.read_text("utf-8")
            await press(pilot, "f6")
            await until(pilot, lambda: "✓ Passed" in shown(app))
            assert kept.best()[EXERCISE].passed


async def test_a_loop_that_never_ends_can_be_stopped(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFILE_FIRST_GPU", "simulated")
    own = workspace.at_home()
    own.open(EXERCISE)
    own.save(EXERCISE, "print('begun', flush=True)\nwhile True:\n    pass\n")
    with progress.at_home() as kept:
        app = CourseApp(catalog.load(), own, kept, real_grader)
        async with app.run_test(size=SMALL) as pilot:
            await go_to(pilot, app, EXERCISE)
            assert isinstance(app.screen, ExerciseScreen)
            await press(pilot, "f5")
            await until(pilot, lambda: "begun" in panel(app).output.text)
            await press(pilot, "f8")
            await until(pilot, lambda: "Stopped" in panel(app).status.text.plain)


class RealTerminal:
    """The course in a pseudo-terminal of 80x24."""

    def __init__(self, home: Path, **more: str) -> None:
        self._ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "PROFILE_FIRST_HOME": str(home), **more}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "course"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self._seen = ""

    def read_until(self, text: str) -> str:
        """Read what is drawn until `text` is, and return it."""
        deadline_s = time.monotonic() + PATIENCE_S
        while text not in self._seen:
            assert time.monotonic() < deadline_s, f"{text!r} was never drawn"
            if select.select([self._ours], [], [], 1)[0]:
                self._seen += os.read(self._ours, 65536).decode(errors="replace")
        seen, self._seen = self._seen, ""
        return seen

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def close(self) -> None:
        """Close the window, as a terminal does it."""
        os.close(self._ours)


def test_a_terminal_that_is_closed_right_after_a_key_loses_nothing(home: Path) -> None:
    with progress.at_home() as kept:
        kept.move_to("synchronize", "time_on_the_gpu")
    terminal = RealTerminal(home)
    terminal.read_until("F7")
    terminal.press("\x1bOR")  # F3
    terminal.read_until("leaves the editor")
    terminal.press("xyz")
    terminal.read_until("xyz")
    terminal.close()
    try:
        assert terminal.process.wait(PATIENCE_S) is not None
    finally:
        if terminal.process.poll() is None:
            terminal.process.send_signal(signal.SIGKILL)
    assert "xyz" in workspace.at_home().path(EXERCISE).read_text("utf-8")
    with progress.at_home() as kept:
        caret = kept.caret(EXERCISE)
    assert caret is not None
    assert caret.pane == "code"


def test_no_color_sends_no_colour_codes(home: Path) -> None:
    terminal = RealTerminal(home, NO_COLOR="1", COLORTERM="truecolor")
    drawn = terminal.read_until("palette")
    terminal.press("\x11")  # ctrl+q
    assert terminal.process.wait(PATIENCE_S) == 0
    terminal.close()
    codes = {code for group in re.findall(r"\x1b\[([0-9;]*)m", drawn) for code in group.split(";")}
    assert codes <= {"", "0", "1", "2", "3", "4", "7", "22", "23", "24", "27", "39", "49"}
