"""What was left is let go of."""

from __future__ import annotations

import gc
from weakref import WeakSet

from textual._styles_cache import StylesCache

from course.app.app import CourseApp
from course.app.screens.base import CourseScreen
from course.app.widgets.editor import Editor
from course.app.widgets.header import CourseHeader
from tests.course.conftest import EXERCISE
from tests.course.test_app import SMALL, go_to


def kept(kind: type) -> list[object]:
    return [each for each in gc.get_objects() if isinstance(each, kind)]


async def test_screens_that_were_left_are_not_kept(app: CourseApp) -> None:
    # Tests before this one may have left an app that is still being let go of.
    of_others = {kind: WeakSet(kept(kind)) for kind in (CourseScreen, CourseHeader, Editor, StylesCache)}
    async with app.run_test(size=SMALL) as pilot:
        for _ in range(6):
            for step in ("perf_counter/first_card", EXERCISE, "perf_counter/quiz", "perf_counter/recap"):
                await go_to(pilot, app, step)
        gc.collect()
        left = {kind: [each for each in kept(kind) if each not in others] for kind, others in of_others.items()}
        for kind in (CourseScreen, CourseHeader, Editor):
            # The one that is shown, and the one that is just being closed.
            assert len(left[kind]) <= 2, kind
        # One for each widget: those of two screens, and of the app's own few.
        assert len(left[StylesCache]) < 150
