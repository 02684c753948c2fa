"""Where a learner would hesitate, the app says what there is to do: no key is silent, nothing old looks like new."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import msgspec
import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from course import catalog
from course.app.app import CourseApp
from course.app.jobs import NO_INPUT, errors_at_lines, run_summary
from course.app.prose import Code, parse
from course.app.screens.aside import AsideScreen
from course.app.screens.exercise import ExerciseScreen
from course.app.screens.home import BOOKMARKS, HomeScreen
from course.app.screens.lesson import end_of_question
from course.app.screens.quiz import QuizScreen
from course.app.widgets.prediction import PredictionPanel
from course.progress import Progress
from course.workspace import Workspace
from grader.client import RunResult
from grader.quiz import read_answers
from grader.verdict import CheckResult, Gpu
from tests.course.conftest import EXERCISE, FakeGrader, verdict
from tests.course.test_app import SMALL, WIDE, MakeApp, editor, go_to, panel, prediction, press, shown, until
from tests.course.test_keeping import status

OLDER = "before you changed it"


def told(app: CourseApp) -> str:
    """The newest notice, as toasts show it."""
    return next((notification.message for notification in reversed(list(app._notifications))), "")


async def to_map(app: CourseApp, pilot: Pilot[None]) -> HomeScreen:
    await until(pilot, lambda: isinstance(app.screen, HomeScreen) and app.screen.lessons.options)
    assert isinstance(app.screen, HomeScreen)
    return app.screen


# The map


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_b_marks_the_step_under_the_cursor_of_the_map(app: CourseApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        home = await to_map(app, pilot)
        await press(pilot, "right", "down", "b")
        assert [step.name for step in app.bookmarked()] == ["second_card"]
        assert "A second card" in told(app)
        assert "◆" in str(home.steps.highlighted_option.prompt)  # type: ignore[union-attr]
        await press(pilot, "b")
        assert app.bookmarked() == []
        assert "◆" not in str(home.steps.highlighted_option.prompt)  # type: ignore[union-attr]


async def test_b_on_a_lesson_says_which_steps_it_marks(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await to_map(app, pilot)
        await press(pilot, "b")
        assert "the step that you read" in told(app)
        assert app.bookmarked() == []


async def test_the_last_bookmark_can_be_taken_away_in_the_list_of_them(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        home = await to_map(app, pilot)
        await press(pilot, "right", "b", "left", "end", "enter")
        await until(pilot, lambda: home.steps.has_focus)
        await press(pilot, "b")
        assert app.bookmarked() == []
        assert home.lessons.has_focus
        await press(pilot, "up", "up", "right")
        await until(pilot, lambda: home.steps.has_focus)


async def test_enter_on_an_empty_list_of_bookmarks_says_how_one_is_made(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        home = await to_map(app, pilot)
        home.lessons.highlighted = [option.id for option in home.lessons.options].index(BOOKMARKS)
        await press(pilot, "enter")
        assert "no bookmark yet. b marks" in told(app)
        assert home.lessons.has_focus


# An exercise


async def test_after_the_last_hint_f7_says_what_else_helps(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f7")
        assert "1 left" in shown(app)
        await press(pilot, "f7")
        assert "All hints are\nshown; Ctrl+D shows a solution." in shown(app)
        assert told(app) == ""
        await press(pilot, "f7")
        assert told(app).startswith("All hints are shown. Ctrl+O opens the card on this. Ctrl+D")


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_a_verdict_on_code_that_was_changed_since_says_so(
    app: CourseApp, fake: FakeGrader, size: tuple[int, int]
) -> None:
    fake.verdict = verdict(CheckResult("A check.", False, 0, 5, "Not yet."))
    async with app.run_test(size=size) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f6")
        await until(pilot, lambda: "Checked in" in panel(app).status.text.plain)
        await press(pilot, "f3", "x")
        await until(pilot, lambda: OLDER in panel(app).status.text.plain)
        await press(pilot, "ctrl+z")
        await until(pilot, lambda: "Checked in" in panel(app).status.text.plain)
        await press(pilot, "x", "f6")
        await until(pilot, lambda: len(fake.asked) == 2 and "Checked in" in panel(app).status.text.plain)


async def test_what_is_typed_while_a_check_runs_is_after_what_it_checks(app: CourseApp, fake: FakeGrader) -> None:
    fake.verdict = verdict(CheckResult("A check.", False, 0, 5, "Not yet."))
    async with app.run_test(size=WIDE) as pilot:
        await go_to(pilot, app, EXERCISE)
        asked = fake.check

        async def typed_meanwhile(*arguments: object, **named: object) -> object:
            editor(app).insert("x")
            return await asked(*arguments, **named)  # type: ignore[arg-type]

        fake.check = typed_meanwhile  # type: ignore[assignment, method-assign]
        await press(pilot, "f6")
        await until(pilot, lambda: OLDER in panel(app).status.text.plain)


async def test_at_the_next_start_a_verdict_knows_whether_the_file_is_still_the_one_that_was_checked(
    make_app: MakeApp, fake: FakeGrader, own: Workspace
) -> None:
    own.open(EXERCISE)
    source = own.path(EXERCISE).read_bytes()
    checked = verdict(CheckResult("A check.", False, 0, 5, "Not yet."))
    fake.verdict = msgspec.structs.replace(checked, source_sha256=hashlib.sha256(source).hexdigest())
    first = make_app()
    async with first.run_test(size=SMALL) as pilot:
        await go_to(pilot, first, EXERCISE)
        await press(pilot, "f6")
        await until(pilot, lambda: panel(first).has_class("-verdict"))
    for text, words in ((source, "Checked in"), (source + b"# more\n", OLDER)):
        own.path(EXERCISE).write_bytes(text)
        app = make_app()
        async with app.run_test(size=SMALL) as pilot:
            await go_to(pilot, app, EXERCISE)
            assert words in panel(app).status.text.plain


@pytest.mark.parametrize("key", ["f5", "f6", "x"])
async def test_that_another_program_changed_the_file_is_said_until_the_next_run_check_or_change(
    app: CourseApp, fake: FakeGrader, own: Workspace, key: str
) -> None:
    fake.verdict = verdict(CheckResult("A check.", False, 0, 5, "Not yet."))
    async with app.run_test(size=WIDE) as pilot:
        await go_to(pilot, app, EXERCISE)
        own.path(EXERCISE).write_text("theirs = 1\n", "utf-8")
        await until(pilot, lambda: "Read again" in status(app))
        await press(pilot, "f3", "down")
        assert "Read again" in status(app)
        await press(pilot, key)
        await until(pilot, lambda: app.job is None and "Read again" not in status(app))


async def test_ctrl_o_in_a_card_opens_the_next_one_where_the_check_found_several_things(
    app: CourseApp, fake: FakeGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards = ["perf_counter/first_card", "perf_counter/second_card"]
    monkeypatch.setattr("course.app.screens.exercise.explanations", lambda _verdict: cards)
    fake.verdict = verdict(CheckResult("A check.", False, 0, 5, "Not yet."))
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f6")
        await until(pilot, lambda: panel(app).has_class("-verdict"))
        await press(pilot, "ctrl+o")
        for card in (*cards, *cards):
            await until(pilot, lambda card=card: isinstance(app.screen, AsideScreen) and app.screen.step.id == card)
            assert "ctrl+o" in app.screen.active_bindings
            await press(pilot, "ctrl+o")
        await press(pilot, "escape")
        assert isinstance(app.screen, ExerciseScreen)


async def test_where_there_is_one_card_ctrl_o_is_not_offered_in_it(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, AsideScreen))
        assert "ctrl+o" not in app.screen.active_bindings


async def test_ctrl_c_with_nothing_to_copy_says_what_it_is_for(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await to_map(app, pilot)
        await press(pilot, "ctrl+c")
        assert told(app) == "Ctrl+C copies what is selected, and stops a program that runs. Ctrl+Q leaves the course."


# What is said at a line


@pytest.mark.parametrize(
    ("said", "at_line"),
    [
        ("`f` stopped with an error: NameError: name 'x' is not defined", "NameError: name 'x' is not defined"),
        ("f.py isn't valid Python, so it could not be run. SyntaxError: '(' was never closed", "SyntaxError: '(' was"),
        ("`f` stopped with an error: torch.OutOfMemoryError: tried `2` GiB", "torch.OutOfMemoryError: tried 2 GiB"),
        ("`f` stopped with an error: KeyboardInterrupt", "KeyboardInterrupt"),
        ("`f` stopped with an error: Oops: of my own", "Oops: of my own"),
        ("`f` si è fermata con un errore: ValueError: no", "ValueError: no"),
        ("Your code called sys.exit() before there was a result.", "Your code called sys.exit()"),
        ("`.item()` waits for the GPU in each step.", ".item() waits"),
    ],
)
def test_the_exception_and_what_it_says_come_first_at_its_line(said: str, at_line: str) -> None:
    (message,) = errors_at_lines([f"{said}\n  f.py, line 3, in f\n    x"], "f.py").values()
    assert message.startswith(at_line)
    assert "`" not in message


def result(exit_code: int = 0, kind: str = "simulated") -> RunResult:
    return RunResult("finished", exit_code, 0.5, Gpu(kind, "Test Card"), [])  # type: ignore[arg-type]


def test_a_run_says_by_which_clock_it_took_so_long_where_there_are_two() -> None:
    assert run_summary(result(), "x").plain == "✓ Finished after 0.5 s real time."
    assert run_summary(result(kind="real"), "x").plain == "✓ Finished after 0.5 s."


TRACEBACK = 'Traceback (most recent call last):\n  File "f.py", line 4, in <module>\n    x = input()\n'


async def test_a_program_that_asks_for_input_is_told_that_a_run_has_no_keyboard(
    app: CourseApp, fake: FakeGrader
) -> None:
    fake.prints, fake.exit_code = TRACEBACK.replace("f.py", "warm_up_and_repeat.py") + f"{NO_INPUT}\n", 1
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f5")
        words = "✗ A run has no keyboard: input() finds nothing to read. Ctrl+L goes to line 4."
        await until(pilot, lambda: panel(app).status.text.plain == words)
        assert "no keyboard" in editor(app).marks[3]


def test_python_still_says_so_where_there_is_nothing_to_read() -> None:
    done = subprocess.run([sys.executable, "-c", "input()"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.stderr.rstrip().endswith(NO_INPUT)


# The quiz


async def answer(pilot: Pilot[None], screen: QuizScreen, *, right: bool) -> str:
    """Answer the question that is shown; returns the text of the right choice."""
    wanted = read_answers("perf_counter")[screen.question.id].right
    ids = [choice.id for choice in screen.question.choices]
    at = next(number for number, each in enumerate(ids, 1) if (each == wanted) is right)
    text = screen.question.choices[ids.index(wanted)].text
    await press(pilot, str(at), "enter")
    return text.split("`")[0]  # type: ignore[no-any-return]


async def test_after_a_wrong_answer_a_shows_the_right_one_with_its_reason(app: CourseApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await go_to(pilot, app, "perf_counter/quiz")
        screen = app.screen
        assert isinstance(screen, QuizScreen)
        assert not screen.check_action("show_right", ())
        await answer(pilot, screen, right=True)
        assert not screen.check_action("show_right", ())
        await press(pilot, "a", "enter")
        await answer(pilot, screen, right=False)
        assert "a shows the right answer." in shown(app)
        assert "Right." not in shown(app)
        await press(pilot, "a")
        assert "✓" in shown(app)
        assert "Right" in shown(app).partition("Not right")[2]
        assert "a shows" not in shown(app)


async def test_the_result_shows_all_right_answers_if_one_wants_and_a_new_try_hides_them(app: CourseApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await go_to(pilot, app, "perf_counter/quiz")
        screen = app.screen
        assert isinstance(screen, QuizScreen)
        texts = []
        while screen.question is not None:
            texts.append(await answer(pilot, screen, right=False))
            await press(pilot, "enter")
        assert "a shows the right answers." in " ".join(shown(app).split())
        await press(pilot, "a")
        said = " ".join(shown(app).split())
        assert all(" ".join(text.split()) in said for text in texts)
        await press(pilot, "r")
        await answer(pilot, screen, right=False)
        assert "a shows the right answer." in shown(app)


async def test_the_recap_says_that_a_quiz_with_mistakes_was_answered(app: CourseApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await go_to(pilot, app, "perf_counter/quiz")
        screen = app.screen
        assert isinstance(screen, QuizScreen)
        await answer(pilot, screen, right=True)
        await press(pilot, "enter")
        while screen.question is not None:
            await answer(pilot, screen, right=False)
            await press(pilot, "enter")
        await go_to(pilot, app, "perf_counter/recap")
        assert "✓ Check yourself  1/5, all answered" in shown(app)


# Predictions


async def test_each_card_that_asks_for_a_prediction_says_so_and_f5_asks_before_it_runs(
    own: Workspace, kept: Progress, fake: FakeGrader
) -> None:
    app = CourseApp(catalog.load(), own, kept, lambda: fake)
    cards = [step for lesson in app.catalog.lessons for step in lesson.steps if step.kind == "card"]
    async with app.run_test(size=SMALL) as pilot:
        asking = 0
        for card in cards:
            blocks = parse(card.text)
            if end_of_question(blocks) is None:
                assert card.prediction is None
                continue
            await go_to(pilot, app, card.id)
            assert "What do you expect?" in shown(app), card.id
            if any(isinstance(block, Code) and block.runnable for block in blocks):
                asking += 1
                await press(pilot, "f5")
                assert app.screen.query_one(PredictionPanel).is_asking, card.id
        assert fake.asked == []
        assert asking > 30


async def test_what_one_expected_in_a_few_words_is_told_beside_the_output(app: CourseApp, fake: FakeGrader) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await prediction(app, pilot)
        await press(pilot, "f5")
        assert fake.asked == []
        await press(pilot, *"12 ms")
        assert app.screen.query_one("#prediction-words", Input).value == "12 ms"
        await press(pilot, "enter")
        await until(pilot, lambda: "You expected: 12 ms" in shown(app))
        assert "The answer." in shown(app)
        assert len(fake.asked) == 1
        await press(pilot, "f5")
        await until(pilot, lambda: len(fake.asked) == 2)


@pytest.mark.parametrize("size", [SMALL, (60, 16)])
async def test_an_open_question_can_be_put_off_and_is_seen_whole(
    app: CourseApp, fake: FakeGrader, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await prediction(app, pilot)
        await press(pilot, "f5", "x")
        panel_shown = app.screen.query_one(PredictionPanel)
        assert app.screen.region.contains_region(panel_shown.region)
        assert panel_shown.max_scroll_y == 0
        await press(pilot, "escape")
        assert not panel_shown.is_asking
        await press(pilot, "f5")
        assert app.screen.query_one("#prediction-words", Input).value == ""
        await press(pilot, *"more", "f5")
        await until(pilot, lambda: "You expected: more" in shown(app))
        assert len(fake.asked) == 1


async def test_enter_pressed_twice_runs_the_card_once(app: CourseApp, fake: FakeGrader) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await prediction(app, pilot)
        await press(pilot, "f5", *"12 ms")
        field = app.screen.query_one("#prediction-words", Input)
        await field.action_submit()
        await field.action_submit()
        await until(pilot, lambda: "You expected: 12 ms" in shown(app))
        await until(pilot, lambda: app.job is None)
        assert len(fake.asked) == 1
