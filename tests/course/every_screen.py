"""Every screen of the app in each of its states, with a small course, as tests look at all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace
from textual.command import CommandList
from textual.pilot import Pilot

from course.app.app import CourseApp
from course.app.widgets.editor import Editor
from course.app.widgets.header import CourseHeader
from course.workspace import Workspace
from grader.verdict import CheckResult
from tests.course.conftest import EXERCISE, FakeGrader, verdict
from tests.course.test_app import go_to, press, until

Go = Callable[[Pilot[None], CourseApp, FakeGrader], Awaitable[None]]


async def _map(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await go_to(pilot, app, "perf_counter/first_card")
    app.go_home()
    await shows(pilot, app, "HomeScreen")


async def _card(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await go_to(pilot, app, "perf_counter/first_card")


async def _card_that_ran(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _card(pilot, app, fake)
    await press(pilot, "f5")
    await until(pilot, lambda: app.job is None and fake.asked)


async def _task(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await go_to(pilot, app, EXERCISE)


async def _hints(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _task(pilot, app, fake)
    await press(pilot, "f7", "f7")


async def _code(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _task(pilot, app, fake)
    await press(pilot, "f3")
    await until(pilot, lambda: app.screen.query_one("#editor").language == "python")  # type: ignore[attr-defined]


async def _output(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    fake.prints = 'Traceback (most recent call last):\n  File "warm_up_and_repeat.py", line 4\nValueError: no steps\n'
    fake.exit_code = 1
    await _task(pilot, app, fake)
    await press(pilot, "f5")
    await until(pilot, lambda: app.job is None and fake.asked)


async def _runs(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    fake.holds = True
    await _task(pilot, app, fake)
    app.animation_level = "none"
    await press(pilot, "f5")
    await until(pilot, lambda: fake.asked)


async def _not_yet(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    fake.verdict = verdict(
        CheckResult("Returns seconds", True, 2, 2),
        CheckResult("Warms up first", False, 0, 3, "The first call was timed too.\n  expected: 5", "no_warm_up"),
    )
    await _task(pilot, app, fake)
    await press(pilot, "f6")
    await until(pilot, lambda: app.job is None and fake.asked)


async def _passed(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    fake.verdict = verdict(CheckResult("Returns seconds", True, 5, 5), status="passed")
    await _task(pilot, app, fake)
    await press(pilot, "f6")
    await until(pilot, lambda: app.job is None and fake.asked)


async def _reset(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _task(pilot, app, fake)
    await press(pilot, "f9")
    await shows(pilot, app, "ConfirmScreen")


async def _solution(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _task(pilot, app, fake)
    await press(pilot, "d")
    await until(pilot, lambda: type(app.screen).__name__ in ("ConfirmScreen", "SolutionScreen"))
    if type(app.screen).__name__ == "ConfirmScreen":
        await press(pilot, "y")
    await shows(pilot, app, "SolutionScreen")


async def _question(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    app.progress.set("quiz seed perf_counter", "1")
    app.workspace.save_answers("perf_counter", {})
    await _card(pilot, app, fake)
    await go_to(pilot, app, "perf_counter/quiz")


async def _answered(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _question(pilot, app, fake)
    await press(pilot, "enter")


async def _quiz_result(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _question(pilot, app, fake)
    while app.screen.question is not None:  # type: ignore[attr-defined]
        await press(pilot, "enter")


async def _recap(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await go_to(pilot, app, "perf_counter/recap")


async def _course_recap(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _card(pilot, app, fake)
    app.go_to_course_recap()
    await shows(pilot, app, "CourseRecapScreen")


async def _help(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _task(pilot, app, fake)
    await press(pilot, "f1")
    await shows(pilot, app, "HelpScreen")


async def _search(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _card(pilot, app, fake)
    await press(pilot, "slash")
    await shows(pilot, app, "SearchScreen")
    await press(pilot, *"card")


async def _glossary(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _card(pilot, app, fake)
    await press(pilot, "g")
    await shows(pilot, app, "GlossaryScreen")


async def _timeline(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    from tests.course.test_timeline import EVENTS

    fake.events = EVENTS
    await _card_that_ran(pilot, app, fake)
    await until(pilot, lambda: app.seen_run is not None)
    await press(pilot, "f10")
    await shows(pilot, app, "TimelineScreen")


async def _toast(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _card(pilot, app, fake)
    for severity in ("information", "warning", "error"):
        app.notify("What happened, and what to do.", title="A title", severity=severity, timeout=600)  # type: ignore[arg-type]
    await until(pilot, lambda: len(app.screen.query("Toast")) == 3)


async def _palette(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _card(pilot, app, fake)
    await press(pilot, "ctrl+p")
    await shows(pilot, app, "CommandPalette")
    await press(pilot, *"theme")
    # The theme that is there isn't offered.
    last = "light" if "contrast" in app.theme else "contrast"
    await until(pilot, lambda: last in _options(app))


def _options(app: CourseApp) -> str:
    """What the palette offers."""
    return "\n".join(str(option.prompt) for option in app.screen.query_one(CommandList)._options)


EVERY_SCREEN: dict[str, Go] = {
    go.__name__.strip("_"): go
    for go in (
        _map,
        _card,
        _card_that_ran,
        _task,
        _hints,
        _code,
        _output,
        _runs,
        _not_yet,
        _passed,
        _reset,
        _solution,
        _question,
        _answered,
        _quiz_result,
        _recap,
        _course_recap,
        _help,
        _search,
        _glossary,
        _timeline,
        _toast,
        _palette,
    )
}


async def shows(pilot: Pilot[None], app: CourseApp, name: str) -> None:
    await until(pilot, lambda: type(app.screen).__name__ == name and app.screen.is_mounted)


async def open_screen(name: str, pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    """Go to a screen, and wait until all of it is drawn."""
    while len(app.screen_stack) > 2:
        app.pop_screen()
        await pilot.pause()
    await EVERY_SCREEN[name](pilot, app, fake)
    await drawn(pilot, app)


async def drawn(pilot: Pilot[None], app: CourseApp) -> None:
    """Wait until all of a screen is drawn."""
    await until(pilot, lambda: all(editor.language for editor in app.screen.query(Editor)))
    headers = app.screen.query(CourseHeader)
    await until(pilot, lambda: all(header.gpu == app.gpu_in_words and "Test Card" in header.gpu for header in headers))
    await pilot.pause()
    await pilot.wait_for_scheduled_animations()
    await pilot.pause()


def give_solution(app: CourseApp, own: Workspace, folder: Path) -> None:
    """Give the exercise a solution."""
    (folder / "solutions/perf_counter").mkdir(parents=True)
    text = "import time\n\n\ndef time_step(step):\n    step()\n    began_s = time.perf_counter()\n    step()\n"
    (folder / f"solutions/{EXERCISE}.py").write_text(text + "    return time.perf_counter() - began_s\n")
    app.workspace = replace(own, solutions=folder / "solutions")
