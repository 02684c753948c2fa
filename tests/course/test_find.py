"""Finding text in one's code, and replacing it."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from course.app.app import CourseApp
from course.app.widgets.find_bar import CaseSwitch, FindBar, FoundCount
from course.workspace import Workspace
from tests.course.conftest import EXERCISE, footer
from tests.course.test_app import SMALL, WIDE, editor, go_to, press, until

CODE = "Step = 1\nstep = step + 1\nprint(step)\n"


async def searching(pilot: Pilot[None], app: CourseApp, own: Workspace, *keys: str) -> FindBar:
    own.open(EXERCISE)
    own.save(EXERCISE, CODE)
    await go_to(pilot, app, EXERCISE)
    await press(pilot, "f3", "ctrl+home", "ctrl+f", *keys)
    return app.screen.query_one(FindBar)


def count(app: CourseApp) -> str:
    return app.screen.query_one(FoundCount).text


async def test_what_is_typed_is_found_at_once_and_enter_and_the_arrows_go_from_match_to_match(
    app: CourseApp, own: Workspace
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await searching(pilot, app, own, *"step")
        assert count(app) == "1 of 4"
        seen = []
        for key in ("enter", "down", "enter", "enter", "up", "shift+enter"):
            await press(pilot, key)
            seen.append((count(app), editor(app).selection.start))
        assert seen == [
            ("2 of 4", (1, 0)),
            ("3 of 4", (1, 7)),
            ("4 of 4", (2, 6)),
            ("1 of 4", (0, 0)),
            ("4 of 4", (2, 6)),
            ("3 of 4", (1, 7)),
        ]
        assert editor(app).selected_text == "step"
        assert len(editor(app).matches) == 4


async def test_case_counts_if_one_wants_it_to(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await searching(pilot, app, own, *"Step", "ctrl+f")
        assert count(app) == "1 of 1"
        await pilot.click(CaseSwitch)
        await until(pilot, lambda: count(app).endswith(" 4"))


async def test_what_is_not_there_is_said(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await searching(pilot, app, own, *"stepx")
        assert count(app) == "none"
        await press(pilot, "enter", "up", *["backspace"] * 5)
        assert count(app) == ""
        assert editor(app).cursor_location == (0, 0)


@pytest.mark.parametrize(("key", "at"), [("escape", (0, 0)), ("f3", (1, 4))])
async def test_escape_returns_the_caret_and_f3_leaves_it_at_the_match(
    app: CourseApp, own: Workspace, key: str, at: tuple[int, int]
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        bar = await searching(pilot, app, own, *"step", "enter")
        await press(pilot, key)
        assert editor(app).has_focus
        await until(pilot, lambda: not bar.display)
        assert editor(app).cursor_location == at
        assert not editor(app).matches
        await press(pilot, "ctrl+f")
        assert bar.display
        assert bar.wanted.value == "step"


async def test_the_selected_word_is_searched_for(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await searching(pilot, app, own, "escape")
        await press(pilot, "down", "ctrl+shift+right", "ctrl+f")
        assert app.screen.query_one(FindBar).wanted.value == "step"
        assert count(app) == "2 of 4"


async def test_enter_in_the_second_field_replaces_and_goes_on_and_each_can_be_undone(
    app: CourseApp, own: Workspace
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await searching(pilot, app, own, *"step", "enter", "tab", *"stepped", "enter", "enter")
        assert editor(app).text == "Step = 1\nstepped = stepped + 1\nprint(step)\n"
        assert count(app) == "4 of 4"
        await press(pilot, "f3", "ctrl+z")
        assert editor(app).text == "Step = 1\nstepped = step + 1\nprint(step)\n"
        await press(pilot, "ctrl+z")
        assert editor(app).text == CODE


async def test_codes_for_characters_are_typed_into_the_field_too(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        bar = await searching(pilot, app, own, "p")
        bar.wanted.post_message(events.Key("space", None))
        await until(pilot, lambda: bar.wanted.value == "p ")


async def test_leaving_the_terminal_for_another_window_does_not_close_the_search(
    app: CourseApp, own: Workspace
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        bar = await searching(pilot, app, own, *"step")
        app.post_message(events.AppBlur())
        await pilot.pause()
        app.post_message(events.AppFocus())
        await until(pilot, lambda: bar.wanted.has_focus)
        assert bar.display


@pytest.mark.parametrize("size", [SMALL, WIDE, (60, 16)])
async def test_the_bar_hides_nothing_but_a_line_of_code(app: CourseApp, own: Workspace, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        bar = await searching(pilot, app, own, *"step")
        assert bar.region.height == 1
        assert bar.region.y == editor(app).region.bottom
        for child in bar.children:
            assert bar.region.contains_region(child.region)
        assert not footer(app).left_out
