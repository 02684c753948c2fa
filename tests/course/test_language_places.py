"""The language is changed at any moment, on every screen, and nothing is lost of where one is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from course import catalog, workspace
from course.app.app import CourseApp
from course.app.widgets.choice_list import ChoiceList
from course.app.widgets.run_tables import RunTables
from course.app.widgets.timeline import Timeline
from course.progress import Progress
from lab.language import use
from tests.course.conftest import EXERCISE, FakeGrader
from tests.course.every_screen import shows
from tests.course.test_app import editor, go_to, press, shown, until
from tests.course.test_timeline import EVENTS

SIZE = (80, 24)


@pytest.fixture(autouse=True)
def _english_afterwards() -> Iterator[None]:
    yield
    use("en")


@pytest.fixture
def app(home: object, kept: Progress, fake: FakeGrader) -> CourseApp:
    """The app with the course that there is, in its three languages."""
    return CourseApp(catalog.load(language="en"), workspace.at_home(), kept, lambda: fake)


async def say(pilot: Pilot[None], app: CourseApp, code: str) -> None:
    app.speak(code)
    await pilot.pause()
    await pilot.pause()


def drawn_text(app: CourseApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def test_a_card_stays_where_it_was_scrolled_to_and_shows_what_it_showed(app: CourseApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, app, "perf_counter/recap")
        await press(pilot, "end")
        scrolled = app.screen.query_one("#card").scroll_y
        assert scrolled
        await say(pilot, app, "it")
        assert "Riepilogo" in shown(app)
        assert app.screen.query_one("#card").scroll_y > 0


async def test_a_question_before_a_program_keeps_the_choice_that_is_looked_at(app: CourseApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, app, "perf_counter/which_clock")
        await press(pilot, "f5")
        choices = app.screen.query_one(ChoiceList)
        await until(pilot, lambda: choices.option_count)
        await press(pilot, "down")
        assert choices.highlighted == 1
        await say(pilot, app, "fr")
        assert app.screen.query_one(ChoiceList).highlighted == 1
        assert app.screen.query_one(ChoiceList).has_focus


async def test_an_exercise_keeps_what_was_typed_and_its_pane(app: CourseApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", *"mine")
        text, caret, scrolled = editor(app).text, editor(app).cursor_location, editor(app).scroll_y
        for code in ("it", "fr", "en"):
            await say(pilot, app, code)
            assert (editor(app).text, editor(app).cursor_location, editor(app).scroll_y) == (text, caret, scrolled)
            assert editor(app).has_focus
        await until(pilot, lambda: "mine" in app.workspace.path(EXERCISE).read_text("utf-8"))


async def test_a_quiz_goes_on_at_its_question_with_the_answers_that_were_given(app: CourseApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.progress.set("quiz seed perf_counter", "1")
        await go_to(pilot, app, "perf_counter/quiz")
        await press(pilot, "enter", "enter", "down")
        choices = app.screen.query_one(ChoiceList)
        asked, ids = app.screen.question.id, [option.id for option in choices.options]
        assert choices.highlighted == 1
        await say(pilot, app, "it")
        assert "Domanda 2 di 5" in shown(app)
        assert app.screen.question.id == asked
        assert [option.id for option in choices.options] == ids
        assert choices.highlighted == 1
        await press(pilot, "enter")
        assert app.screen.answered
        await say(pilot, app, "fr")
        assert app.screen.answered
        assert app.screen.question.id == asked
        assert len(app.workspace.answers("perf_counter")) == 2


async def test_a_timeline_keeps_its_part_its_cursor_and_its_table(app: CourseApp, fake: FakeGrader) -> None:
    fake.events = EVENTS
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f5")
        await until(pilot, lambda: app.job is None and fake.asked and app.seen_run is not None)
        await press(pilot, "f10")
        await shows(pilot, app, "TimelineScreen")
        await press(pilot, "plus", "plus", "right", "right", "2")
        timeline, tables = app.screen.query_one(Timeline), app.screen.query_one(RunTables)
        before = (timeline.window, timeline.cursor_s, tables.number)
        for code in ("it", "fr"):
            await say(pilot, app, code)
            assert (timeline.window, timeline.cursor_s, tables.number) == before
        assert "Hôte" in drawn_text(app)


async def test_a_search_keeps_its_words_and_finds_what_the_language_says(app: CourseApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, app, "perf_counter/which_clock")
        await press(pilot, "slash")
        await shows(pilot, app, "SearchScreen")
        await press(pilot, *"warm-up")
        query = app.screen.query_one("#query", Input)
        await say(pilot, app, "it")
        assert query.value == "warm-up"
        assert query.has_focus
        assert "esercizio" in drawn_text(app)
        await press(pilot, *" zzz")
        await say(pilot, app, "fr")
        assert query.value == "warm-up zzz"


async def test_the_glossary_stays_at_its_term(app: CourseApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, app, "perf_counter/which_clock")
        await press(pilot, "g")
        await shows(pilot, app, "GlossaryScreen")
        await press(pilot, "home", "down", "down", "down")
        choices = app.screen.query_one(ChoiceList)
        at = choices.highlighted_option.id
        for code in ("it", "fr", "en"):
            await say(pilot, app, code)
            assert choices.highlighted_option.id == at


async def test_the_map_stays_at_its_lesson_and_step(app: CourseApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, app, "perf_counter/which_clock")
        app.go_home()
        await shows(pilot, app, "HomeScreen")
        await press(pilot, "home", "down", "down", "right", "down", "down")
        lessons, steps = (app.screen.query_one(name, ChoiceList) for name in ("#lessons", "#steps"))
        before = (lessons.highlighted, steps.highlighted, steps.has_focus)
        assert before == (2, 2, True)
        for code in ("it", "fr", "en"):
            await say(pilot, app, code)
            assert (lessons.highlighted, steps.highlighted, steps.has_focus) == before


async def test_a_solution_and_help_stay_open(app: CourseApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f1")
        await shows(pilot, app, "HelpScreen")
        await press(pilot, "pagedown")
        await say(pilot, app, "it")
        assert type(app.screen).__name__ == "HelpScreen"
        await press(pilot, "escape", "d")
        await until(pilot, lambda: type(app.screen).__name__ == "ConfirmScreen")
        await say(pilot, app, "fr")
        assert type(app.screen).__name__ == "ConfirmScreen"
        await press(pilot, "y")
        await shows(pilot, app, "SolutionScreen")
        await say(pilot, app, "it")
        assert type(app.screen).__name__ == "SolutionScreen"
