"""What came of a prediction is seen beside what the program printed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from course.app.app import CourseApp
from course.app.screens.lesson import CardScroll
from course.app.widgets.prose import Prose
from course.catalog import Prediction
from tests.course.conftest import FakeGrader
from tests.course.test_app import go_to, panel, press, shown, until

PROGRAM = "\n".join(f"print({number})" for number in range(14))
WHY = "It prints one line, and then another one, and so on, until ten of them are there, each with its number."


@pytest.mark.parametrize("height", [22, 24])
async def test_what_came_of_a_prediction_is_on_the_screen_after_the_run(
    app: CourseApp, fake: FakeGrader, height: int
) -> None:
    fake.prints = "a line\n" * 6
    lesson = app.catalog.lessons[0]
    asked = Prediction("How many lines?", ("one", "ten"), 1, WHY)
    text = f"Look at this.\n\n```python run\n{PROGRAM}\n```\n\n{'The answer goes on. ' * 60}"
    card = replace(lesson.steps[0], text=text, prediction=asked)
    app.catalog = replace(app.catalog, lessons=(replace(lesson, steps=(card, *lesson.steps[1:])),))
    async with app.run_test(size=(80, height)) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await press(pilot, "f5", "1")
        await until(pilot, lambda: "You said: one. Right is: ten." in shown(app))
        seen, after = app.screen.query_one(CardScroll), app.screen.query_one("#after", Prose)
        await until(pilot, lambda: seen.scroll_offset.y > 0)
        await pilot.pause()
        assert after.virtual_region.y + after.rows_of_first <= seen.scroll_offset.y + seen.size.height
        assert panel(app).virtual_region.y >= seen.scroll_offset.y
