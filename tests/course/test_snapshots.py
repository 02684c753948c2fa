"""A picture of every screen is kept in `snapshots/`; a test fails where a screen has become another one.

    pytest tests/course/test_snapshots.py --update-snapshots

keeps the pictures as they are now. Look at what changed (`git diff`, or `python -m tests.course.see_snapshots`) before
it is committed.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from course.app.app import CourseApp
from course.app.screens import recap
from course.workspace import Workspace
from tests.course.conftest import FakeGrader
from tests.course.every_screen import EVERY_SCREEN, give_solution, open_screen
from tests.course.snapshots import picture


class FixedDate(date):
    """A day that doesn't change."""

    @classmethod
    def today(cls) -> FixedDate:
        return cls(2026, 1, 2)


KEPT = Path(__file__).with_name("snapshots")
SIZES = [(80, 24), (120, 40)]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", EVERY_SCREEN)
async def test_the_screen_is_as_in_its_picture(
    app: CourseApp,
    fake: FakeGrader,
    own: Workspace,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    size: tuple[int, int],
) -> None:
    give_solution(app, own, tmp_path)
    monkeypatch.setattr(recap, "date", FixedDate)
    app.animation_level = "none"  # a caret that blinks, a spinner
    async with app.run_test(size=size, notifications=name == "toast") as pilot:
        await open_screen(name, pilot, app, fake)
        seen = picture(app.screen._compositor.render_strips())
    seen = re.sub(r"Running \d+ s", "Running 0 s", seen)
    kept = KEPT / f"{size[0]}x{size[1]}" / f"{name}.txt"
    if request.config.getoption("--update-snapshots"):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(seen, "utf-8")
    assert kept.is_file(), f"{name} has no picture: pytest {Path(__file__).name} --update-snapshots"
    assert seen == kept.read_text("utf-8")


def test_each_picture_is_of_a_screen_that_there_is() -> None:
    assert {file.stem for width, height in SIZES for file in (KEPT / f"{width}x{height}").glob("*.txt")} == set(
        EVERY_SCREEN
    )
