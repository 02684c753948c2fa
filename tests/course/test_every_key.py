"""Every key of every screen is pressed: nothing breaks, and nothing is cut off.

At 80x24; with PROFILE_FIRST_EVERY_SIZE=1 at 120x40 and 200x60 as well.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.pilot import Pilot

from course.app.app import CourseApp
from course.app.widgets.actions import ActionButton
from course.app.widgets.footer import CourseFooter
from course.workspace import Workspace
from tests.course.conftest import FakeGrader
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
    for button in app.screen.query(ActionButton):
        if button.display and button.region:
            whole = button.content_size.width >= button.render().cell_length
            if not (whole and app.screen.region.contains_region(button.region)):
                found.append(f"the button {button.label}")
    return found


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


SCREENS = [name for name in EVERY_SCREEN if name not in ("toast", "runs")]
SIZES = [(80, 24), (120, 40), (200, 60)]
# At the size at which most is cut off; at all of them where time doesn't matter.
EVERYWHERE = bool(os.environ.get("PROFILE_FIRST_EVERY_SIZE"))
CASES = [(name, size) for name in SCREENS for size in (SIZES if EVERYWHERE else SIZES[:1])]


def _in_words(each: str | tuple[int, int]) -> str:
    return each if isinstance(each, str) else f"{each[0]}x{each[1]}"


@pytest.mark.parametrize(("name", "size"), CASES, ids=_in_words)
async def test_every_key_of_the_screen(
    app: CourseApp, fake: FakeGrader, own: Workspace, tmp_path: Path, name: str, size: tuple[int, int]
) -> None:
    give_solution(app, own, tmp_path)
    async with app.run_test(size=size) as pilot:
        await press_all(pilot, app, fake, name)
