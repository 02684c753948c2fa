"""The recaps and the report say what was learnt, what went wrong and was understood, and what is still open."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import pytest

from course import catalog, cli, learnt, learnt_report, standing
from course.app import attention
from course.app.app import CourseApp
from course.app.screens.aside import AsideScreen
from course.app.screens.exercise import ExerciseScreen
from course.app.screens.home import BOOKMARKS, HomeScreen
from course.app.screens.quiz import QuizScreen
from course.app.screens.recap import CourseRecapScreen
from course.catalog import Catalog
from course.progress import Progress
from grader.verdict import CheckResult, to_plain
from tests.course.conftest import EXERCISE, verdict
from tests.course.test_app import SMALL, WIDE, go_to, press, shown, until

DAY = datetime.date(2026, 12, 1)
QUIZ = "perf_counter/quiz"
WRONG = CheckResult("The clock waits.", False, 2, 5, "It stopped early.", "clock_stopped_early")
RIGHT = CheckResult("The clock waits.", True, 5, 5)
HALF_RIGHT = (CheckResult("Who waits?", False, 0, 1, "No."), CheckResult("Why?", True, 4, 4))


def card_of(mistake: str) -> str | None:
    return "perf_counter/second_card" if mistake == "clock_stopped_early" else None


@pytest.fixture
def course(lessons: Path) -> Catalog:
    return catalog.load(lessons)


def first(kept: Progress, course: Catalog) -> learnt.Learnt:
    return learnt.learnt(kept, course, card_of, "perf_counter")[0]


def read_all(kept: Progress, course: Catalog) -> None:
    for lesson in course.lessons:
        for step in lesson.steps:
            kept.move_to(lesson.id, step.name)


# How far one is


def test_a_quiz_with_a_wrong_answer_is_taken_and_the_lesson_complete(kept: Progress, course: Catalog) -> None:
    read_all(kept, course)
    kept.record(to_plain(verdict(RIGHT, status="passed")))
    kept.record(to_plain(verdict(*HALF_RIGHT, exercise=QUIZ)))
    reached = standing.standing(course, standing.done(kept))
    assert reached.complete
    assert standing.in_words(reached) == "1 of 1 exercise passed, 1 of 1 quiz taken (0 without a mistake)"


def test_an_exercise_that_isnt_passed_keeps_a_lesson_open(kept: Progress, course: Catalog) -> None:
    read_all(kept, course)
    kept.record(to_plain(verdict(WRONG)))
    reached = standing.standing(course, standing.done(kept))
    assert [each.complete for each in reached.lessons] == [False, True]
    assert (reached.points, reached.max_points) == (2, 10)


def test_what_comes_next_is_after_where_one_stopped_then_what_was_left_out(kept: Progress, course: Catalog) -> None:
    read_all(kept, course)
    what, last = standing.done(kept), course.lessons[-1].steps[-1]
    following = standing.next_step(course, what, last)
    assert following is not None
    assert following.id == EXERCISE
    assert standing.next_step(course, standing.Done(frozenset(), {}), None) == course.lessons[0].steps[0]


# What was learnt


def test_a_mistake_is_understood_once_its_exercise_is_passed(kept: Progress, course: Catalog) -> None:
    for _ in range(2):
        kept.record(to_plain(verdict(WRONG)))
    (mistake,) = first(kept, course).mistakes
    assert (mistake.in_words, mistake.times, mistake.understood) == ("clock stopped early", 2, False)
    assert mistake.card == course.step("perf_counter/second_card")
    kept.record(to_plain(verdict(RIGHT, status="passed")))
    (mistake,) = first(kept, course).mistakes
    assert mistake.understood


def test_the_last_answers_to_a_quiz_are_those_that_count_as_wrong(kept: Progress, course: Catalog) -> None:
    kept.record(to_plain(verdict(*HALF_RIGHT, exercise=QUIZ)))
    assert first(kept, course).wrong_answers == ("Who waits?",)
    kept.record(to_plain(verdict(CheckResult("Who waits?", True, 5, 5), exercise=QUIZ, status="passed")))
    assert first(kept, course).wrong_answers == ()


def test_what_imported_progress_says_can_not_steer_a_terminal(kept: Progress, course: Catalog) -> None:
    trick = "\x1b]52;c;eA==\x07\u202e"
    kept.record(to_plain(verdict(CheckResult(f"Who {trick} waits?", False, 0, 5, "", f"a{trick}b"), exercise=QUIZ)))
    text = learnt_report.markdown(kept, course, DAY)
    assert "waits?" in text
    assert not set(trick[:1] + trick[-2:]) & set(text)


def test_looking_at_a_solution_counts_as_first_only_before_passing(kept: Progress, course: Catalog) -> None:
    kept.see_solution(EXERCISE, passed=True)
    assert first(kept, course).looked_first == ()
    with Progress(kept.path.with_name("other.sqlite3")) as other:
        other.see_solution(EXERCISE, passed=False)
        assert [step.id for step in first(other, course).looked_first] == [EXERCISE]


@pytest.mark.parametrize(
    ("seconds_s", "words"),
    [(1, "1 minute"), (89, "1 minute"), (1500, "25 minutes"), (3600, "1 h"), (6000, "1 h 40 min")],
)
def test_time_is_told_as_one_remembers_it(seconds_s: float, words: str) -> None:
    assert learnt.duration_in_words(seconds_s) == words


# The report


def test_the_report_of_a_beginner_says_so(kept: Progress, course: Catalog) -> None:
    text = learnt_report.markdown(kept, course, DAY)
    assert text.startswith(f"# {learnt_report.TITLE}\n\n1 December 2026. 0 of 10 points.")
    assert "No lesson is finished yet." in text
    assert "Not begun yet: 1 Measure first; 2 Wait." in text
    assert "## 1 Measure first" not in text


def test_the_report_halfway_says_what_is_done_and_what_is_open(kept: Progress, course: Catalog) -> None:
    kept.move_to("synchronize", "only")
    kept.move_to("synchronize", "recap")
    kept.record(to_plain(verdict(WRONG)))
    kept.predict("perf_counter/first_card", 0, True)
    kept.see_solution(EXERCISE, passed=False)
    kept.spend("perf_counter", 1500)
    text = learnt_report.markdown(kept, course, DAY)
    for said in (
        "1 of 1 prediction came true. Time spent: 25 minutes.",
        "- Wait.\n",
        "2 of 10 points. 0 of 1 exercise passed, 1 check. Time spent: 25 minutes.",
        "- Still to understand: clock stopped early.",
        "- Looked at the solution first: Time a step.",
        "- Still open: Time a step, Check yourself.",
        "To take along:\n\nDone.",
    ):
        assert said in text
    assert "Measure first." not in text.partition("## The habit")[0].partition("- Still open")[2].partition("## 2")[0]


def test_the_report_is_printed_or_written_and_replaces_only_a_report(
    kept: Progress, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"# {learnt_report.TITLE}")
    file = tmp_path / "report.md"
    for _ in range(2):
        assert cli.main(["report", "--out", str(file)]) == 0
    assert file.read_text() == printed
    file.write_text("something else")
    assert cli.main(["report", "--out", str(file)]) == 2
    assert "exists and is something else" in capsys.readouterr().err
    assert file.read_text() == "something else"
    assert cli.main(["report", "--out", str(file), "--force"]) == 0
    assert file.read_text() == printed
    assert cli.main(["progress", "export", str(file)]) == 2


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_the_course_recap_shows_the_report_and_s_saves_it(size: tuple[int, int], app: CourseApp) -> None:
    app.progress.record(to_plain(verdict(WRONG)))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        app.go_to_course_recap()
        await until(pilot, lambda: isinstance(app.screen, CourseRecapScreen) and app.screen.is_mounted)
        assert "2 of 10 points." in shown(app)
        await press(pilot, "s")
        saved = app.workspace.folder.parent / "report.md"
        assert saved.read_text().startswith(f"# {learnt_report.TITLE}")
        assert any(str(saved) in note.message for note in app._notifications)


# The recap of a lesson


async def test_a_number_on_the_recap_opens_what_is_worth_another_look(
    app: CourseApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("course.app.screens.recap.card_of", card_of)
    app.progress.record(to_plain(verdict(WRONG)))
    app.progress.record(to_plain(verdict(*HALF_RIGHT, exercise=QUIZ)))
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/recap")
        for line in ("1  Time a step isn't done yet.", "2  A second card explains", "3  Check yourself: 1 answer can"):
            assert line in shown(app)
        await press(pilot, "2")
        await until(pilot, lambda: isinstance(app.screen, AsideScreen))
        await press(pilot, "escape", "9")
        await press(pilot, "3")
        await until(pilot, lambda: isinstance(app.screen, QuizScreen))
        await go_to(pilot, app, "perf_counter/recap")
        await press(pilot, "1")
        await until(pilot, lambda: isinstance(app.screen, ExerciseScreen))


async def test_a_complete_lesson_says_what_one_can_do(app: CourseApp) -> None:
    read_all(app.progress, app.catalog)
    app.progress.record(to_plain(verdict(RIGHT, status="passed")))
    app.progress.record(to_plain(verdict(RIGHT, exercise=QUIZ, status="passed")))
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/recap")
        assert "✓ You can time a step." in shown(app)
        assert "Worth another look" not in shown(app)


# The map


def row(app: CourseApp, option: str) -> str:
    return str(app.screen.lessons.get_option(option).prompt)


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_the_map_has_bars_and_says_what_counts(size: tuple[int, int], make_app: Callable[[], CourseApp]) -> None:
    app = make_app()
    app.progress.record(to_plain(verdict(RIGHT, status="passed")))
    app.progress.record(to_plain(verdict(*HALF_RIGHT, exercise=QUIZ)))
    read_all(app.progress, app.catalog)
    app.progress.set("at_map", "yes")
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and app.screen.lessons.options)
        assert row(app, "perf_counter").startswith("✓  Measure first")
        assert "━━━━━━━─   9/10 points" in row(app, "perf_counter")
        welcome = str(app.screen.query_one("#welcome").render())
        assert "9 of 10 points" in welcome
        assert "1 of 1 exercise passed, 1 of 1 quiz taken (0 without a mistake)." in welcome


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_bookmarks_are_listed_in_the_map_and_marked_among_the_steps(
    size: tuple[int, int], make_app: Callable[[], CourseApp]
) -> None:
    app = make_app()
    for step in ("synchronize/only", EXERCISE):
        app.progress.toggle_bookmark(step)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and app.screen.lessons.options)
        home = app.screen
        await press(pilot, "right")
        await until(pilot, lambda: home.steps.has_focus)
        assert str(home.steps.get_option(EXERCISE).prompt).endswith("◆")
        await press(pilot, "left")
        await until(pilot, lambda: home.lessons.has_focus)
        home.lessons.highlighted = home.lessons.get_option_index(BOOKMARKS)
        await press(pilot, "enter")
        await until(pilot, lambda: home.steps.has_focus)
        assert [option.id for option in home.steps.options] == [EXERCISE, "synchronize/only"]
        assert "1  Time a step" in str(home.steps.options[0].prompt)
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, ExerciseScreen))


async def test_without_bookmarks_the_map_says_how_to_set_one(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and app.screen.lessons.options)
        assert "b marks a step" in row(app, BOOKMARKS)
        app.screen.lessons.highlighted = app.screen.lessons.get_option_index(BOOKMARKS)
        await press(pilot, "enter")
        assert app.screen.lessons.has_focus


# The time


async def test_time_counts_from_key_to_key_without_the_pauses(app: CourseApp, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [1000.0]
    monkeypatch.setattr(attention, "monotonic", lambda: now_s[0])
    app.attend("perf_counter")
    for later_s in (20.0, 1000.0, 5.0):  # the second one is a pause
        now_s[0] += later_s
        app.keep_time()
    app.attend(None)
    now_s[0] += 10
    app.attend("synchronize")
    assert app.progress.spent_s() == {"perf_counter": 25.0}


async def test_keys_in_a_lesson_count_as_time_in_it(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await press(pilot, "j", "k")
        await go_to(pilot, app, "synchronize/only")
        assert set(app.progress.spent_s()) == {"perf_counter"}
