"""The map shows each title whole, however wide the terminal is."""

from __future__ import annotations

import pytest

from course import catalog
from course.app.app import CourseApp
from course.app.screens.home import HomeScreen
from course.progress import Progress
from course.workspace import Workspace
from lab.language import LANGUAGES, speaking
from tests.course.conftest import FakeGrader
from tests.course.test_app import until


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (120, 40)])
@pytest.mark.parametrize("code", LANGUAGES)
async def test_no_title_of_a_lesson_is_cut_off_and_long_steps_hang(
    own: Workspace, kept: Progress, fake: FakeGrader, code: str, size: tuple[int, int]
) -> None:
    with speaking(code):
        lessons = catalog.load()
        app = CourseApp(lessons, Workspace(own.folder), kept, lambda: fake)
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: isinstance(app.screen, HomeScreen) and app.screen.lessons.option_count)
            await pilot.pause()
            rows = [str(option.prompt) for option in app.screen.lessons.options]
            assert not [row for row in rows if "…" in row]
            for lesson, row in zip(lessons.lessons, rows, strict=False):
                assert lesson.title.split()[-1] in row
            if app.screen.steps.display:
                width = app.screen.steps.scrollable_content_region.width
                for option in app.screen.steps.options:
                    first, *others = str(option.prompt).split("\n")
                    assert all(len(line) <= width - 2 for line in (first, *others)), option.prompt
                    assert all(line.startswith("  ") for line in others)


async def test_the_number_of_a_lesson_goes_to_it(app: CourseApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and app.screen.lessons.option_count)
        await pilot.press("right", "2")
        await until(pilot, lambda: app.screen.lessons.has_focus and app.screen.lessons.highlighted == 1)
        await pilot.press("9")
        assert app.screen.lessons.highlighted == 1
