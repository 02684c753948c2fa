"""The app as a learner meets it: keys, resuming, running, checking, the quiz, small terminals."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from course.app.app import CourseApp
from course.app.prose import flow
from course.app.screens.base import CourseScreen
from course.app.screens.exercise import ExerciseScreen
from course.app.screens.help import HelpScreen
from course.app.screens.home import HomeScreen
from course.app.screens.lesson import LessonScreen
from course.app.screens.quiz import QuizScreen
from course.app.screens.recap import CourseRecapScreen, RecapScreen
from course.app.widgets.editor import Editor
from course.app.widgets.header import CourseHeader
from course.app.widgets.job import JobPanel
from course.app.widgets.output import OutputView
from course.app.widgets.prediction import PredictionPanel
from course.app.widgets.prose import Prose
from course.catalog import Prediction
from course.progress import Place, Progress
from course.workspace import Workspace, WorkspaceError
from grader.quiz import read_answers
from grader.verdict import CheckResult, to_plain
from tests.course.conftest import EXERCISE, STARTER, FakeGrader, click, cut_off_buttons, footer, verdict

SMALL, WIDE = (80, 24), (120, 40)
PATIENCE_S = 20
MakeApp = Callable[[], CourseApp]


async def until(pilot: Pilot[None], holds: Callable[[], Any]) -> None:
    """Let the app work until something holds."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline_s, "it never came to hold"
        await pilot.pause()


async def press(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await pilot.pause()


async def go_to(pilot: Pilot[None], app: CourseApp, step_id: str) -> None:
    await until(pilot, lambda: isinstance(app.screen, CourseScreen) and app.screen.is_mounted)
    step = app.catalog.step(step_id)
    assert step is not None
    app.go_to(step)
    await until(pilot, lambda: getattr(app.screen, "step", None) is step and app.screen.is_mounted)
    await pilot.pause()


def shown(app: CourseApp) -> str:
    """All prose on the screen."""
    return "\n".join(flow(prose.blocks, 70).plain for prose in app.screen.query(Prose) if prose.display)


def editor(app: CourseApp) -> Editor:
    return app.screen.query_one(Editor)


def panel(app: CourseApp) -> JobPanel:
    return app.screen.query_one(JobPanel)


# Walking


async def test_one_walks_from_the_first_card_to_the_course_recap_with_the_keyboard(app: CourseApp) -> None:
    visited: list[str] = []
    async with app.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await press(pilot, "enter")
        for _ in range(20):
            if isinstance(app.screen, CourseRecapScreen):
                break
            step = app.screen.step
            if not visited or visited[-1] != step.id:
                visited.append(step.id)
            if isinstance(app.screen, QuizScreen):
                while app.screen.question is not None:
                    await press(pilot, "enter")
            await press(pilot, "ctrl+n" if isinstance(app.screen, ExerciseScreen) else "n")
        assert isinstance(app.screen, CourseRecapScreen)
        assert visited == [step.id for lesson in app.catalog.lessons for step in lesson.steps]
        assert "• Wait." in shown(app)
        assert "Still open: Time a step" in shown(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, HomeScreen)


@pytest.mark.parametrize("key", ["n", "enter", "right", "ctrl+n"])
async def test_each_of_these_keys_goes_to_the_next_card(app: CourseApp, key: str) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await press(pilot, key)
        assert app.screen.step.name == "second_card"


@pytest.mark.parametrize("key", ["p", "left"])
async def test_each_of_these_keys_goes_back(app: CourseApp, key: str) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/second_card")
        await press(pilot, key)
        assert app.screen.step.name == "first_card"


async def test_space_reads_on_to_the_next_card(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await press(pilot, "space")
        assert app.screen.step.name == "second_card"


async def test_a_click_on_next_goes_on(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await click(pilot, app, "next")
        await pilot.pause()
        assert app.screen.step.name == "second_card"


async def prediction(app: CourseApp, pilot: Pilot[None]) -> None:
    """Open a card that asks for a prediction."""
    lesson = app.catalog.lessons[0]
    text = "Ask. **Predict:** how much?\n\n```python run\nprint(1)\n```\n\nThe answer."
    asking = replace(lesson.steps[0], text=text)
    app.catalog = replace(app.catalog, lessons=(replace(lesson, steps=(asking, *lesson.steps[1:])),))
    await go_to(pilot, app, "perf_counter/first_card")


@pytest.mark.parametrize("keys", [["space"], ["enter"], ["f5", "f5"], ["f5", "enter"]])
async def test_what_follows_a_prediction_is_shown_after_it(app: CourseApp, keys: list[str]) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await prediction(app, pilot)
        assert "print(1)" in shown(app)
        assert "The answer." not in shown(app)
        assert "Space reads on" in shown(app)
        await press(pilot, *keys)
        await until(pilot, lambda: "The answer." in shown(app))
        assert app.screen.step.name == "first_card"
        await press(pilot, "enter", "p")
        assert app.screen.step.name == "first_card"
        assert "The answer." in shown(app)


async def test_a_run_that_fails_does_not_give_the_answer_away(app: CourseApp, fake: FakeGrader) -> None:
    fake.exit_code = 1
    async with app.run_test(size=SMALL) as pilot:
        await prediction(app, pilot)
        await press(pilot, "f5", "f5")
        await until(pilot, lambda: "Error" in panel(app).status.text.plain)
        assert "The answer." not in shown(app)


async def asking_card(app: CourseApp, pilot: Pilot[None], right: int | None = 1) -> None:
    """Open a card that asks before its program is run."""
    asked = Prediction("How many lines?", ("one", "`two`"), right, "It prints two.")
    lesson = app.catalog.lessons[0]
    text = "Look at this.\n\n```python run\nprint(1)\n```\n\nThe answer."
    card = replace(lesson.steps[0], text=text, prediction=asked)
    app.catalog = replace(app.catalog, lessons=(replace(lesson, steps=(card, *lesson.steps[1:])),))
    await go_to(pilot, app, "perf_counter/first_card")


def asks(app: CourseApp) -> bool:
    return app.screen.query_one(PredictionPanel).is_asking


@pytest.mark.parametrize(
    ("keys", "right", "said"),
    [
        (["2"], 1, "✓ You said: two. It prints two."),
        (["1"], 1, "✗ You said: one. Right is: two. It prints two."),
        (["down", "enter"], 1, "✓ You said: two."),
        (["1"], None, "▸ You said: one."),
    ],
)
@pytest.mark.parametrize("size", [SMALL, (60, 16)])
async def test_a_prediction_is_asked_before_the_run_and_told_beside_the_output(
    app: CourseApp, kept: Progress, fake: FakeGrader, keys: list[str], right: int, said: str, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await asking_card(app, pilot, right)
        assert "F5 asks you, and runs it" in shown(app)
        await press(pilot, "f5")
        assert asks(app)
        assert fake.asked == []
        assert "The answer." not in shown(app)
        question = app.screen.query_one(PredictionPanel)
        assert app.screen.region.contains_region(question.region)
        assert question.max_scroll_y == 0
        await press(pilot, *keys)
        await until(pilot, lambda: said in shown(app))
        assert not asks(app)
        assert [what for what, _ in fake.asked] == ["run"]
        assert "The answer." in shown(app)
        assert kept.predictions() == ((1 if said[0] == "✓" else 0, 1) if right is not None else (0, 0))
        await press(pilot, "f5")
        await until(pilot, lambda: len(fake.asked) == 2)
        assert not asks(app)


async def test_a_prediction_can_be_skipped_or_put_off(app: CourseApp, kept: Progress, fake: FakeGrader) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await asking_card(app, pilot)
        await press(pilot, "f5", "3", "escape")
        assert not asks(app)
        assert app.screen.step.name == "first_card"
        await press(pilot, "f5", "f5")
        await until(pilot, lambda: "The answer." in shown(app))
        assert "You said" not in shown(app)
        assert len(fake.asked) == 1
        assert kept.prediction("perf_counter/first_card") is None
        await press(pilot, "n", "p", "f5")
        assert not asks(app)


async def test_a_click_predicts_and_leaving_the_card_ends_the_question(app: CourseApp, fake: FakeGrader) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await asking_card(app, pilot)
        await press(pilot, "f5", "n", "p")
        assert not asks(app)
        await press(pilot, "f5")
        await pilot.click("#prediction-choices", offset=(5, 1))
        await until(pilot, lambda: "✓ You said: two" in shown(app))


async def test_a_recap_says_how_many_predictions_came_true(app: CourseApp, kept: Progress) -> None:
    kept.predict("perf_counter/first_card", 1, True)
    kept.predict("perf_counter/second_card", 0, False)
    kept.predict("synchronize/only", 0, None)
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/recap")
        assert "1 of 2 predictions came true" in shown(app)
        await go_to(pilot, app, "synchronize/recap")
        assert "came true" not in shown(app)


async def test_the_map_lists_lessons_and_the_steps_of_the_one_chosen(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await press(pilot, "j", "right")
        assert [option.id for option in app.screen.steps.options] == ["synchronize/only", "synchronize/recap"]
        await press(pilot, "down", "enter")
        assert isinstance(app.screen, RecapScreen)


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_the_map_shows_whole_goals_and_bars_of_points(
    own: Workspace, kept: Progress, fake: FakeGrader, size: tuple[int, int]
) -> None:
    from course import catalog

    kept.move_to("perf_counter", "why_measure")
    kept.set("at_map", "yes")
    kept.record({"exercise": EXERCISE, "status": "passed", "points": 5, "max_points": 5})
    app = CourseApp(catalog.load(), own, kept, lambda: fake)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and app.screen.lessons.options)
        rows = [str(option.prompt) for option in app.screen.lessons.options]
        for lesson, row in zip(app.catalog.lessons, rows, strict=False):
            assert lesson.promise.removeprefix("You can ")[1:] in row
            assert len(row.splitlines()) == 2
        possible = app.catalog.lessons[0].points
        assert re.search(rf"━+─+ +5/{possible} points", rows[0])
        assert "━" not in rows[1]


async def test_a_lesson_opens_where_one_stopped_in_it(app: CourseApp, kept: Progress) -> None:
    kept.move_to("perf_counter", "second_card")
    kept.move_to("synchronize", "only")
    kept.set("at_map", "yes")
    async with app.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await press(pilot, "k", "enter")
        assert app.screen.step.id == "perf_counter/second_card"


# Every screen


STEPS = ["first_card", "second_card", "warm_up_and_repeat", "quiz", "recap"]


@pytest.mark.parametrize("size", [SMALL, (60, 16)])
@pytest.mark.parametrize("name", STEPS)
async def test_every_screen_names_the_gpu_and_cuts_nothing_off(
    app: CourseApp, name: str, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await go_to(pilot, app, f"perf_counter/{name}")
        await until(pilot, lambda: footer(app).keys)
        header = app.screen.query_one(CourseHeader)
        await until(pilot, lambda: "simulated GPU Test Card" in header.render().plain)
        assert footer(app).region.bottom == size[1]
        assert not footer(app).left_out
        assert not cut_off_buttons(app)


async def test_every_binding_has_an_id() -> None:
    for screen in (HomeScreen, LessonScreen, ExerciseScreen, QuizScreen, RecapScreen, CourseRecapScreen, HelpScreen):
        for binding in screen.BINDINGS:
            assert binding.id, f"{screen.__name__}: {binding.key}"


async def test_help_lists_the_keys_of_the_screen_below(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "f1")
        assert isinstance(app.screen, HelpScreen)
        help_text = shown(app)
        for words in ("F5  Ctrl+R", "Run your file", "In the editor", "Ctrl+Z", "Tab indents", "Ctrl+Q"):
            assert words in help_text
        await press(pilot, "escape")
        assert isinstance(app.screen, ExerciseScreen)
        assert editor(app).has_focus


async def test_the_palette_offers_the_actions_of_the_screen_and_every_step(app: CourseApp) -> None:
    from course.app.commands import CourseCommands

    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        commands = CourseCommands(app.screen)
        offered = [str(hit.text) async for hit in commands.discover()]
        for title in ("Run (F5)", "Check (F6)", "Hint (F7)", "Reset (F9)", "Next (Ctrl+N)"):
            assert title in offered
        found = [hit async for hit in commands.search("second card")]
        found[0].command()
        await until(pilot, lambda: app.screen.step.name == "second_card")


@pytest.mark.parametrize("word", ["record_function", "schedule", "dataloader", "pin_memory"])
async def test_the_palette_finds_cards_by_what_they_say(
    own: Workspace, kept: Progress, fake: FakeGrader, word: str
) -> None:
    from course import catalog
    from course.app.commands import CourseCommands

    app = CourseApp(catalog.load(), own, kept, lambda: fake)
    async with app.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and app.screen.is_mounted)
        hits = [hit async for hit in CourseCommands(app.screen).search(word)]
        best = sorted(hits, key=lambda hit: -hit.score)[: max(1, sum(hit.score >= 400 for hit in hits))]
        having = {
            step.title
            for lesson in app.catalog.lessons
            for step in lesson.steps
            if word in (step.title + step.text).lower()
        }
        assert having
        assert {str(hit.text).split(": ", 1)[1] for hit in best} == having


async def test_too_small_a_terminal_says_so_and_loses_nothing(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "x")
        await pilot.resize_terminal(59, 24)
        await until(pilot, lambda: [notice.display for notice in app.screen.query("#too-small")] == [True])
        await pilot.resize_terminal(80, 15)
        await until(pilot, lambda: app.screen.has_class("-flat"))
        await pilot.resize_terminal(*WIDE)
        await until(pilot, lambda: not app.screen.query_one("#too-small").display)
        assert editor(app).has_focus
        await press(pilot, "y")
        assert "xyreturn {}" in editor(app).text


async def test_task_code_and_output_stand_side_by_side_where_there_is_room(app: CourseApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await go_to(pilot, app, EXERCISE)
        task, code, job = (app.screen.query_one(f"#{name}").region for name in ("task", "editor", "job"))
        assert task.right <= code.x
        assert code.bottom <= job.y
        await pilot.resize_terminal(*SMALL)
        await until(pilot, lambda: app.screen.has_class("-narrow"))
        for key, pane in (("f2", "task"), ("f3", "editor"), ("f4", "job")):
            await press(pilot, key)
            visible = [name for name in ("task", "editor", "job") if app.screen.query_one(f"#{name}").region.area]
            assert visible == [pane]


async def test_the_theme_is_kept(make_app: MakeApp) -> None:
    first = make_app()
    async with first.run_test(size=SMALL) as pilot:
        first.theme = "profile-first-light"
        await pilot.pause()
    assert make_app().theme == "profile-first-light"


async def test_no_color_chooses_a_theme_that_sends_no_colours(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = make_app()
    assert app.theme == "ansi-dark"
    async with app.run_test(size=SMALL) as pilot:
        for name in STEPS:
            await go_to(pilot, app, f"perf_counter/{name}")


@pytest.mark.parametrize("theme", ["profile-first-dark", "profile-first-light", "textual-light", "nord", "ansi-light"])
async def test_every_screen_can_be_drawn_in_any_theme(app: CourseApp, theme: str) -> None:
    async with app.run_test(size=WIDE) as pilot:
        app.theme = theme
        for name in STEPS:
            await go_to(pilot, app, f"perf_counter/{name}")
            assert app.export_screenshot()


# Resuming


async def test_the_next_start_opens_the_same_step(make_app: MakeApp) -> None:
    first = make_app()
    async with first.run_test(size=SMALL) as pilot:
        await go_to(pilot, first, "perf_counter/second_card")
        await press(pilot, "ctrl+q")
    second = make_app()
    async with second.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: getattr(second.screen, "step", None))
        assert second.screen.step.name == "second_card"


async def test_text_and_caret_are_as_they_were_at_the_next_start(make_app: MakeApp) -> None:
    first = make_app()
    async with first.run_test(size=SMALL) as pilot:
        await go_to(pilot, first, EXERCISE)
        await press(pilot, "f3", "#", "a", "left", "ctrl+q")
    second = make_app()
    async with second.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(second.screen, ExerciseScreen) and editor(second).has_focus)
        assert editor(second).text == STARTER.replace("return", "#areturn")
        assert editor(second).cursor_location == (4, 5)


async def test_whoever_left_from_the_map_begins_at_the_map(make_app: MakeApp) -> None:
    first = make_app()
    async with first.run_test(size=SMALL) as pilot:
        await go_to(pilot, first, "perf_counter/second_card")
        await press(pilot, "escape", "ctrl+q")
    second = make_app()
    async with second.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(second.screen, HomeScreen))


async def test_a_step_that_no_longer_exists_leads_to_the_map(make_app: MakeApp, kept: Progress) -> None:
    kept.move_to("perf_counter", "gone")
    app = make_app()
    async with app.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


# The editor


async def test_what_is_typed_is_saved_after_a_moment(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "x")
        await until(pilot, lambda: "xreturn" in own.path(EXERCISE).read_text("utf-8"))


async def test_everything_that_is_typed_is_saved_not_only_the_first_time(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3")
        for number in range(1, 4):
            await press(pilot, "x")
            typed = "x" * number + "return"
            await until(pilot, lambda typed=typed: typed in own.path(EXERCISE).read_text("utf-8"))


async def test_leaving_with_text_that_cannot_be_saved_asks_first_and_keeps_a_copy(
    app: CourseApp, own: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)

        def full(*_: object) -> None:
            raise WorkspaceError("The disk is full.")

        monkeypatch.setattr(own.__class__, "save", full)
        await press(pilot, "f3", "x", "y", "z")
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert app.is_running
        await pilot.press("ctrl+q")
    copies = list(tmp_path.glob("profile-first-*.py"))
    assert len(copies) == 1
    assert "xyz" in copies[0].read_text()


async def test_what_another_program_saves_is_shown_without_a_key_and_the_caret_stays(
    app: CourseApp, own: Workspace
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "down", "up")
        location = editor(app).cursor_location
        own.path(EXERCISE).write_text(STARTER + "# changed elsewhere\n", "utf-8")
        await until(pilot, lambda: "# changed elsewhere" in editor(app).text)
        assert editor(app).cursor_location == location


async def test_a_check_shows_first_what_another_program_saved(app: CourseApp, own: Workspace, fake: FakeGrader) -> None:
    fake.verdict = verdict(CheckResult("All is well.", True, 5, 5), status="passed")
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        own.path(EXERCISE).write_text("changed = 1\n", "utf-8")
        await press(pilot, "f6")
        await until(pilot, lambda: "✓ Passed" in shown(app))
        assert fake.asked == [(EXERCISE, "changed = 1\n")]
        assert editor(app).text == "changed = 1\n"


async def test_the_function_to_complete_is_in_view_and_a_line_that_fits_is_shown_from_its_beginning(
    make_app: MakeApp, own: Workspace
) -> None:
    long = "def time_step(step):\n    return {" + "1, " * 20 + "}\n"
    text = "# about\n" * 60 + long
    own.open(EXERCISE)
    own.save(EXERCISE, text)
    first = make_app()
    async with first.run_test(size=SMALL) as pilot:
        await go_to(pilot, first, EXERCISE)
        await press(pilot, "f3")
        await until(pilot, lambda: editor(first).scroll_y > 0)
        assert editor(first).scroll_y <= 60 < editor(first).scroll_y + editor(first).size.height
        await press(pilot, "ctrl+home")
        assert editor(first).cursor_location == (0, 0)
        await press(pilot, "ctrl+end", "up", "end", "ctrl+q")
    second = make_app()
    async with second.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(second.screen, ExerciseScreen) and editor(second).has_focus)
        await pilot.pause()
        assert editor(second).cursor_location == (61, len(long.splitlines()[1]))
        assert editor(second).scroll_x == 0


async def test_going_on_saves_at_once(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "x", "ctrl+n")
        assert "xreturn" in own.path(EXERCISE).read_text("utf-8")


async def test_escape_leaves_the_editor_first_and_then_the_exercise(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "escape")
        assert isinstance(app.screen, ExerciseScreen)
        assert not editor(app).has_focus
        await press(pilot, "escape")
        assert isinstance(app.screen, HomeScreen)


async def test_tab_indents_and_enter_keeps_the_indent(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", *"if 1:", "enter", "x", "enter", "tab", "y")
        assert editor(app).text.splitlines()[4:] == ["    if 1:", "        x", "            yreturn {}"]


async def test_ctrl_c_copies_when_nothing_runs(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "shift+end", "ctrl+c")
        assert app.clipboard == "return {}"


async def test_copy_takes_the_cards_code_and_the_output(app: CourseApp, fake: FakeGrader) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await press(pilot, "c")
        assert app.clipboard == 'print("hello from the card")\n'
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f5")
        await until(pilot, lambda: "Finished" in panel(app).status.text.plain)
        await press(pilot, "c")
        assert app.clipboard.strip() == "hello"


async def test_letters_are_keys_only_outside_of_the_editor(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "n")
        assert "nreturn" in editor(app).text
        await press(pilot, "escape", "n")
        assert isinstance(app.screen, QuizScreen)


async def test_a_change_by_another_program_is_shown(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        own.path(EXERCISE).write_text("changed elsewhere\n", "utf-8")
        await press(pilot, "f1", "escape")
        await until(pilot, lambda: editor(app).text == "changed elsewhere\n")


async def test_reset_asks_and_keeps_a_backup(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "x", "f9", "n")
        assert "xreturn" in editor(app).text
        await press(pilot, "f9", "y")
        await until(pilot, lambda: editor(app).text == STARTER)
        (backup,) = (own.folder / "perf_counter" / "backups").iterdir()
        assert "xreturn" in backup.read_text("utf-8")


async def test_an_unreadable_file_is_reported_and_left_alone(app: CourseApp, own: Workspace) -> None:
    own.path(EXERCISE).parent.mkdir(parents=True)
    own.path(EXERCISE).write_bytes(b"\xff\xfe broken")
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "x", "f5", "ctrl+n")
    assert own.path(EXERCISE).read_bytes() == b"\xff\xfe broken"


async def test_hints_come_one_at_a_time_and_stay(make_app: MakeApp) -> None:
    first = make_app()
    async with first.run_test(size=SMALL) as pilot:
        await go_to(pilot, first, EXERCISE)
        assert "The first hint." not in shown(first)
        await press(pilot, "f7")
        assert "Hint 1 of 2" in shown(first)
        assert "The first hint." in shown(first)
        assert "The second hint." not in shown(first)
        await press(pilot, "f7", "f7", "ctrl+q")
    second = make_app()
    async with second.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(second.screen, ExerciseScreen))
        await until(pilot, lambda: "Hint 2 of 2" in shown(second))


# Running and checking


async def test_run_saves_first_and_shows_what_is_printed(app: CourseApp, fake: FakeGrader) -> None:
    fake.prints = "[red]not markup[/red]\n\x1b[31mno colour codes\x1b[0m\n10%\r100%\n"
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "x", "f5")
        await until(pilot, lambda: "Finished" in panel(app).status.text.plain)
        assert "xreturn" in fake.asked[0][1]
        assert list(panel(app).output.lines)[:3] == ["[red]not markup[/red]", "no colour codes", "100%"]


@pytest.mark.parametrize("key", ["f8", "ctrl+c"])
async def test_a_run_can_be_stopped(app: CourseApp, fake: FakeGrader, key: str) -> None:
    fake.holds = True
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "f5")
        await until(pilot, lambda: "hello" in panel(app).output.text)
        assert "Running" in panel(app).status.text.plain
        await press(pilot, key)
        await until(pilot, lambda: "Stopped" in panel(app).status.text.plain)
        assert app.job is None


async def test_ctrl_l_goes_to_the_line_where_the_program_went_wrong(app: CourseApp, fake: FakeGrader) -> None:
    fake.prints = 'Traceback:\n  File "/x/warm_up_and_repeat.py", line 4, in time_step\n  File "/y/torch.py", line 9\n'
    fake.exit_code = 1
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f5")
        await until(pilot, lambda: "Ctrl+L goes to line 4" in panel(app).status.text.plain)
        await press(pilot, "ctrl+l")
        assert editor(app).has_focus
        assert editor(app).cursor_location == (3, 0)


async def test_leaving_the_exercise_stops_its_run(app: CourseApp, fake: FakeGrader) -> None:
    fake.holds = True
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f5")
        await until(pilot, lambda: fake.asked)
        await press(pilot, "ctrl+n")
        await until(pilot, lambda: app.job is None)


async def test_a_failed_check_says_what_was_seen_and_opens_the_card_that_explains_it(
    app: CourseApp, fake: FakeGrader, kept: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader import mistakes
    from grader.mistakes import Misconception

    known = {"a_mistake": Misconception("said", card="perf_counter/second_card")}
    monkeypatch.setattr(mistakes, "misconceptions", lambda: known)
    fake.verdict = verdict(
        CheckResult("First calls are apart.", True, 2, 2),
        CheckResult("The median is reported.", False, 0, 3, "You reported the [mean].", "a_mistake"),
    )
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f6")
        await until(pilot, lambda: "Not yet" in shown(app))
        for words in (
            "2 of 5 points",
            "✓ First calls are apart.",
            "✗ The median",
            "You reported the [mean].",
            "Ctrl+O",
        ):
            assert words in shown(app)
        assert kept.best()[EXERCISE].points == 2
        assert "Ctrl+O" in panel(app).status.text.plain
        await press(pilot, "f1")
        assert "Ctrl+O" in shown(app)
        await press(pilot, "escape", "ctrl+o")
        assert isinstance(app.screen, LessonScreen)
        assert "A second card" in shown(app)
        await until(pilot, lambda: "Back" in [key.description for key in footer(app).keys])
        await press(pilot, "escape")
        assert isinstance(app.screen, ExerciseScreen)
        assert kept.place() == Place("perf_counter", "warm_up_and_repeat")


async def test_ctrl_o_opens_the_card_on_why_it_matters_where_no_mistake_is_to_explain(
    app: CourseApp, fake: FakeGrader
) -> None:
    fake.verdict = verdict(CheckResult("The median is reported.", False, 0, 3, "You returned nothing."))
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        for key in "f2", "f6":
            await press(pilot, key)
            await until(
                pilot,
                lambda: app.job is None and "Why?" in [k.description for k in footer(app).keys],
            )
            await press(pilot, "ctrl+o")
            assert app.screen.step.id == "perf_counter/first_card"
            await press(pilot, "escape")


async def test_the_same_words_under_several_checks_are_said_once(app: CourseApp, fake: FakeGrader) -> None:
    fake.verdict = verdict(*(CheckResult(f"Check {n}.", False, 0, 2, "You returned nothing.") for n in range(2)))
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f6")
        await until(pilot, lambda: "✗ Check 1.  0/2, for the same reason" in shown(app))
        assert shown(app).count("You returned nothing.") == 1


async def test_ctrl_o_opens_the_cards_of_several_mistakes_one_after_the_other(
    app: CourseApp, fake: FakeGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader import mistakes
    from grader.mistakes import Misconception

    cards = ("perf_counter/second_card", "perf_counter/first_card")
    known = {f"m{number}": Misconception("said", card=card) for number, card in enumerate(cards)}
    monkeypatch.setattr(mistakes, "misconceptions", lambda: known)
    fake.verdict = verdict(*(CheckResult(f"Check {n}.", False, 0, 2, f"Seen {n}.", f"m{n}") for n in range(2)))
    async with app.run_test(size=(60, 16)) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f6")
        await until(pilot, lambda: "Ctrl+O once more" in shown(app))
        await until(pilot, lambda: "Why?" in [key.description for key in footer(app).keys])
        assert not footer(app).left_out
        for card in (*cards, cards[0]):
            await press(pilot, "ctrl+o")
            assert app.screen.step.id == card
            await press(pilot, "escape")


async def test_hints_are_free_and_not_advertised_once_passed(app: CourseApp, kept: Progress) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        assert "hint (2 left, they cost no points)." in shown(app)
        kept.record(to_plain(verdict(CheckResult("All is well.", True, 5, 5), status="passed")))
        await go_to(pilot, app, "perf_counter/quiz")
        await go_to(pilot, app, EXERCISE)
        assert "F7" not in shown(app)


async def test_a_passed_check_stays_and_says_which_key_goes_on(app: CourseApp, fake: FakeGrader) -> None:
    fake.verdict = verdict(CheckResult("All is well.", True, 5, 5), status="passed")
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f6")
        await until(pilot, lambda: "✓ Passed" in shown(app))
        assert isinstance(app.screen, ExerciseScreen)
        assert "Ctrl+N goes on" in shown(app)


async def test_the_last_verdict_is_still_there_at_the_next_start(make_app: MakeApp, fake: FakeGrader) -> None:
    fake.verdict = verdict(CheckResult("A check.", False, 0, 5, "What was seen."))
    first = make_app()
    async with first.run_test(size=WIDE) as pilot:
        await go_to(pilot, first, EXERCISE)
        await press(pilot, "f6")
        await until(pilot, lambda: "What was seen." in shown(first))
    second = make_app()
    async with second.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: isinstance(second.screen, ExerciseScreen) and "What was seen." in shown(second))


async def test_a_grader_that_fails_is_reported_in_the_output(app: CourseApp, fake: FakeGrader) -> None:
    async def broken(*_: object) -> None:
        from grader.errors import ServiceDied

        raise ServiceDied("The grader's process ended.")

    fake.run = broken  # type: ignore[method-assign,assignment]
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f5")
        await until(pilot, lambda: "The grader's process ended." in panel(app).status.text.plain)
        assert app.job is None


async def test_a_cards_code_runs_on_the_spot(app: CourseApp, fake: FakeGrader, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await press(pilot, "f5")
        await until(pilot, lambda: "Finished" in panel(app).status.text.plain)
        assert fake.asked == [("run", 'print("hello from the card")\n')]
        assert panel(app).output.text.strip() == "hello"
        await press(pilot, "n")
        assert not panel(app).display


async def test_the_graders_process_is_closed_with_the_app(app: CourseApp, fake: FakeGrader) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: fake.gpu)
    assert fake.closed


async def test_a_carriage_return_cut_off_between_two_chunks_is_no_blank_line(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        output = app.screen.query_one(OutputView)
        for chunk in ("one\r", "\ntwo\x1b[3", "1m!\x1b[0m\n", "50%\r", "99%\n"):
            output.feed(chunk)
        assert list(output.lines)[:3] == ["one", "two!", "99%"]


WIDE_LINE = "".join(f"{number:10}" for number in range(30)) + "\n"


@pytest.mark.parametrize("step", ["perf_counter/first_card", EXERCISE])
@pytest.mark.parametrize(("right", "left"), [("greater_than_sign", "less_than_sign"), ("shift+right", "shift+left")])
async def test_lines_wider_than_the_window_scroll_sideways_and_the_status_says_so(
    app: CourseApp, fake: FakeGrader, step: str, right: str, left: str
) -> None:
    fake.prints = WIDE_LINE
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, step)
        await press(pilot, "f5")
        await until(pilot, lambda: "> scrolls right" in panel(app).status.text.plain)
        output = panel(app).output
        await press(pilot, right, right)
        assert output.scroll_x > output.size.width // 2
        await press(pilot, left, left)
        assert output.scroll_x == 0
        await press(pilot, "f1")
        assert "Scroll wide output to the right" in shown(app)


async def test_narrow_output_offers_no_scrolling_and_leaves_the_arrows_to_the_cards(
    app: CourseApp, fake: FakeGrader
) -> None:
    fake.prints = "line\n" * 60
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await press(pilot, "f5")
        await until(pilot, lambda: panel(app).output.has_focus)
        assert "scrolls" not in panel(app).status.text.plain
        await press(pilot, "right")
        assert app.screen.step.name == "second_card"


@pytest.mark.parametrize("step", ["perf_counter/first_card", EXERCISE])
async def test_a_run_that_fails_shows_its_last_lines(app: CourseApp, fake: FakeGrader, step: str) -> None:
    fake.exit_code, fake.prints = 1, "line\n" * 60 + "ValueError: the last word\n"
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, step)
        await press(pilot, "f5")
        await until(pilot, lambda: "Error" in panel(app).status.text.plain)
        output = panel(app).output
        await until(pilot, lambda: output.scroll_y == output.max_scroll_y > 0)


async def test_output_scrolls_along_unless_one_has_scrolled_up_to_read(app: CourseApp, fake: FakeGrader) -> None:
    fake.holds = True
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f5")
        output = panel(app).output
        for number in range(60):
            panel(app).feed(f"line {number}\n")
            await pilot.pause()
        await until(pilot, lambda: output.line_count == 61 and output.scroll_y == output.max_scroll_y > 0)
        await press(pilot, "k", "k")
        reading_at = output.scroll_y
        panel(app).feed("more\n" * 20)
        await until(pilot, lambda: output.line_count == 81)
        await pilot.pause()
        assert output.scroll_y == reading_at
        await press(pilot, "end")
        panel(app).feed("most\n" * 20)
        await until(pilot, lambda: output.scroll_y == output.max_scroll_y and output.line_count == 101)


# The quiz


async def test_each_answer_is_followed_by_its_reason(app: CourseApp, own: Workspace) -> None:
    answers = read_answers("perf_counter")
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/quiz")
        screen = app.screen
        assert isinstance(screen, QuizScreen)
        question = screen.question
        await press(pilot, "2", "enter")
        chosen = question.choices[1].id
        assert own.answers("perf_counter") == {question.id: chosen}
        right = answers[question.id].right == chosen
        assert ("✓ Right" if right else "✗ Not right.") in shown(app)
        assert "Right. Right" not in shown(app)
        first_words = answers[question.id].why[chosen].split()[:3]
        assert all(word.strip("`*") in shown(app) for word in first_words)
        await press(pilot, "1", "enter")
        assert screen.question is not question
        assert own.answers("perf_counter") == {question.id: chosen}


async def test_all_right_answers_pass_the_quiz_and_count(app: CourseApp, kept: Progress) -> None:
    answers = read_answers("perf_counter")
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/quiz")
        screen = app.screen
        assert isinstance(screen, QuizScreen)
        while (question := screen.question) is not None:
            ids = [choice.id for choice in question.choices]
            await press(pilot, str(ids.index(answers[question.id].right) + 1), "enter", "enter")
        best = kept.best()["perf_counter/quiz"]
        assert best.passed
        assert f"{best.points} of {best.max_points} points" in shown(app)
        verdict_kept = kept.last_verdict("perf_counter/quiz")
        assert verdict_kept is not None
        assert str(verdict_kept["seed"]) == kept.setting("quiz seed perf_counter")
        await press(pilot, "r")
        assert screen.question is not None
        assert not screen.answered


async def test_a_quiz_left_half_way_goes_on_there_with_the_same_order(make_app: MakeApp) -> None:
    first = make_app()
    async with first.run_test(size=SMALL) as pilot:
        await go_to(pilot, first, "perf_counter/quiz")
        await press(pilot, "enter", "enter")
        question = first.screen.question
        await press(pilot, "ctrl+q")
    second = make_app()
    async with second.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(second.screen, QuizScreen) and second.screen.question)
        assert second.screen.question == question


async def test_a_quiz_that_cannot_be_read_says_so_and_one_can_go_on(
    app: CourseApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader import quiz
    from grader.errors import CheckFault

    def unreadable(_lesson: str, _language: str) -> None:
        raise CheckFault("The quiz can't be read: it is gone.")

    monkeypatch.setattr(quiz, "read_questions", unreadable)
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/quiz")
        assert "it is gone" in shown(app)
        await press(pilot, "1", "enter")
        assert isinstance(app.screen, RecapScreen)


async def test_progress_that_cannot_be_written_is_told_once_and_the_code_is_still_saved(
    app: CourseApp, kept: Progress, own: Workspace
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        kept._database.execute("PRAGMA query_only = ON")
        await press(pilot, "f3", "x", "ctrl+n", "p")
        assert len([notice for notice in app._notifications if "can't be written" in notice.message]) == 1
        assert "xreturn" in own.path(EXERCISE).read_text("utf-8")
        kept._database.execute("PRAGMA query_only = OFF")


async def test_damaged_progress_is_told(home: Any, own: Workspace, lessons: Any, fake: FakeGrader) -> None:
    from course import catalog, progress

    home.mkdir()
    (home / "progress.sqlite3").write_bytes(b"damaged" * 500)
    with progress.at_home() as kept:
        app = CourseApp(catalog.load(lessons), own, kept, lambda: fake)
        async with app.run_test(size=SMALL) as pilot:
            await until(pilot, lambda: any("was damaged" in notice.message for notice in app._notifications))
