"""Keys that follow one another faster than the app takes them."""

from __future__ import annotations

from textual import events

from course.app.app import CourseApp
from course.workspace import Workspace
from grader.verdict import CheckResult
from tests.course.conftest import EXERCISE, STARTER, FakeGrader, verdict
from tests.course.test_app import SMALL, editor, go_to, press, until

F6, F5, CTRL_Q = events.Key("f6", None), events.Key("f5", None), events.Key("ctrl+q", None)


async def begin_to_write(app: CourseApp, pilot: object) -> None:
    await go_to(pilot, app, EXERCISE)  # type: ignore[arg-type]
    await press(pilot, "f3")  # type: ignore[arg-type]
    assert editor(app).has_focus


async def test_a_check_right_after_a_paste_checks_what_was_pasted(app: CourseApp, fake: FakeGrader) -> None:
    fake.verdict = verdict(CheckResult("is fast", True, 5, 5), status="passed")
    async with app.run_test(size=SMALL) as pilot:
        await begin_to_write(app, pilot)
        app.post_message(events.Paste("pasted = 1\n" * 200))
        app.post_message(F6)
        await until(pilot, lambda: fake.asked)
        assert fake.asked[-1][1].count("pasted = 1\n") == 200


async def test_a_run_right_after_keys_runs_what_was_typed(app: CourseApp, fake: FakeGrader) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await begin_to_write(app, pilot)
        for letter in "typed":
            app.post_message(events.Key(letter, letter))
        app.post_message(F5)
        await until(pilot, lambda: fake.asked)
        assert "typed" in fake.asked[-1][1]


async def test_leaving_right_after_keys_keeps_them(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await begin_to_write(app, pilot)
        for letter in "typed":
            app.post_message(events.Key(letter, letter))
        app.post_message(CTRL_Q)
        await until(pilot, lambda: not app.is_running)
    assert "typed" in own.path(EXERCISE).read_text("utf-8")


def burst(app: CourseApp, *keys: str) -> None:
    """Send keys at once, as a slow line does."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))


async def test_letters_do_not_overtake_the_keys_before_them(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await begin_to_write(app, pilot)
        burst(app, "a", "b", "backspace", "c", "left", "d", "home", "e", "end", "f", "ctrl+end", "g", "enter", "h")
        await until(pilot, lambda: editor(app).text.endswith("h"))
        assert editor(app).text.splitlines()[4:] == ["    eadcreturn {}f", "g", "h"]


async def test_what_follows_f3_is_code_and_what_follows_ctrl_f_is_searched_for(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        burst(app, "f3", "n", "q", "ctrl+f", *"steqp", "left", "backspace", "enter", "f3", "!")
        await until(pilot, lambda: "!" in editor(app).text)
        assert editor(app).text == STARTER.replace("return", "nqreturn").replace("(step)", "(!)")
