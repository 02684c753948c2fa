"""The real app with the real grader; one in a real terminal that is then closed."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import pytest

from course import progress, workspace
from course.app.app import CourseApp
from course.app.screens.exercise import ExerciseScreen
from course.progress import Progress
from tests.course.real_terminal import PATIENCE_S, RealTerminal
from tests.course.test_app import SMALL, editor, go_to, panel, press, shown, until

EXERCISE = "synchronize/time_on_the_gpu"
pytestmark = pytest.mark.slow


async def test_run_check_and_pass_an_exercise_with_the_real_grader(real_app: CourseApp, kept: Progress) -> None:
    app = real_app
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


async def test_a_loop_that_never_ends_can_be_stopped(real_app: CourseApp) -> None:
    app, own = real_app, real_app.workspace
    own.open(EXERCISE)
    own.save(EXERCISE, "print('begun', flush=True)\nwhile True:\n    pass\n")
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        assert isinstance(app.screen, ExerciseScreen)
        await press(pilot, "f5")
        await until(pilot, lambda: "begun" in panel(app).output.text)
        await press(pilot, "f8")
        await until(pilot, lambda: "Stopped" in panel(app).status.text.plain)


def test_a_terminal_that_is_closed_right_after_a_key_loses_nothing(home: Path) -> None:
    with progress.at_home() as kept:
        kept.move_to("synchronize", "time_on_the_gpu")
    terminal = RealTerminal(home)
    terminal.read_until("F7")
    terminal.press("f3")
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
    terminal.read_until("palette")
    drawn = terminal.sent.decode()
    terminal.press("ctrl+q")
    assert terminal.exit_code() == 0
    terminal.close()
    codes = {code for group in re.findall(r"\x1b\[([0-9;]*)m", drawn) for code in group.split(";")}
    assert codes <= {"", "0", "1", "2", "3", "4", "7", "22", "23", "24", "27", "39", "49"}


# As where it draws on a terminal that takes nothing any more.
WAITS_FOR_EVER = """
import os, pathlib, threading
from course.app.app import CourseApp, run_app
def wait_for_ever(app):
    pathlib.Path(os.environ["PROFILE_FIRST_HOME"], "waits").touch()
    threading.Event().wait()
CourseApp.action_bookmark = wait_for_ever
run_app()
"""


def test_an_app_that_waits_for_ever_ends_when_its_window_is_closed(home: Path) -> None:
    with progress.at_home() as kept:
        kept.move_to("perf_counter", "why_measure")
    terminal = RealTerminal(home, command=[sys.executable, "-c", WAITS_FOR_EVER])
    terminal.read_until("palette")
    terminal.press("b")
    terminal.read_while(lambda: not (home / "waits").exists(), "it never waits")
    terminal.close()
    try:
        assert terminal.process.wait(PATIENCE_S) is not None
    finally:
        terminal.process.kill()
