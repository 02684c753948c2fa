"""Every key of every screen is pressed, at three sizes: nothing breaks, and nothing is cut off."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from course.app.app import CourseApp
from course.app.widgets.footer import CourseFooter
from course.workspace import Workspace
from tests.course.conftest import FakeGrader, cut_off_buttons
from tests.course.every_screen import EVERY_SCREEN, give_solution, open_screen

ENDS_THE_APP = {"ctrl+q"}
pytestmark = [pytest.mark.slow, pytest.mark.long]


def keys_of(app: CourseApp) -> list[str]:
    """All keys that do something here."""
    return sorted({key for binding in app.screen.active_bindings for key in binding.split(",")} - ENDS_THE_APP)


def cut_off(app: CourseApp) -> list[str]:
    """What doesn't fit on the screen."""
    found = []
    for footer in app.screen.query(CourseFooter):
        found += [f"the footer's {key.description}" for key in footer.left_out]
    return found + [f"the button {button}" for button in cut_off_buttons(app)]


async def press_all(pilot: Pilot[None], app: CourseApp, fake: FakeGrader, name: str) -> None:
    await open_screen(name, pilot, app, fake)
    assert not cut_off(app)
    for key in keys_of(app):
        before = app.screen
        await pilot.press(key)
        await pilot.pause()
        assert app.is_running, key
        assert app._exception is None, key
        assert not cut_off(app), key
        # A key may have changed what the screen shows: the next one is then pressed there, as a person would.
        if app.screen is not before:
            fake.holds = False
            app.stop_job()
            await open_screen(name, pilot, app, fake)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", [name for name in EVERY_SCREEN if name not in ("toast", "runs")])
async def test_every_key_of_the_screen(
    app: CourseApp, fake: FakeGrader, own: Workspace, tmp_path: Path, name: str, size: tuple[int, int]
) -> None:
    give_solution(app, own, tmp_path)
    async with app.run_test(size=size) as pilot:
        await press_all(pilot, app, fake, name)
