"""The app in each language: walked through, changed on the way, and nothing wider than its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from textual.pilot import Pilot

from course import catalog, folders, language
from course.app.app import CourseApp
from course.app.screens.base import CourseScreen
from course.app.screens.recap import CourseRecapScreen
from course.app.widgets.actions import ActionBar
from course.catalog import Step
from course.progress import Progress
from course.workspace import Workspace
from grader.verdict import CheckResult
from lab.language import LANGUAGES, current, speaking, use
from tests.course.conftest import EXERCISE, FakeGrader, buttons, cut_off_buttons, footer, verdict
from tests.course.every_screen import EVERY_SCREEN, open_screen
from tests.course.test_app import editor, go_to, panel, press, shown, until

SMALL = (80, 24)
OTHERS = [code for code in LANGUAGES if code != "en"]


@pytest.fixture(params=LANGUAGES)
def spoken(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each language in turn, spoken while the test runs."""
    with speaking(request.param):
        yield request.param


@pytest.fixture(autouse=True)
def _english_afterwards() -> Iterator[None]:
    yield
    use("en")


def laid_out(app: CourseApp) -> bool:
    """Whether every button that is shown has its place."""
    return all(bar.size.width for bar in app.screen.query(ActionBar) if bar.display and bar.parent.display)


def nothing_is_cut_off(app: CourseApp) -> None:
    """Every key of the footer is there, and every button is as wide as its words."""
    if isinstance(app.screen, CourseScreen):
        assert not footer(app).left_out, [key.description for key in footer(app).left_out]
    assert not cut_off_buttons(app)


@pytest.mark.slow
@pytest.mark.long
async def test_the_course_is_walked_from_its_first_card_to_the_recap(
    spoken: str, own: Workspace, kept: Progress, fake: FakeGrader
) -> None:
    lessons = catalog.load()
    app = CourseApp(lessons, Workspace(own.folder), kept, lambda: fake)
    steps: list[Step] = [step for lesson in lessons.lessons for step in lesson.steps]
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, steps[0].id)
        for step in steps:
            await until(pilot, lambda step=step: getattr(app.screen, "step", None) is step and app.screen.is_mounted)
            await until(pilot, lambda: footer(app).keys and laid_out(app))
            assert step.title in shown(app) or step.kind == "quiz"
            nothing_is_cut_off(app)
            app.go_after(step)
        await until(pilot, lambda: isinstance(app.screen, CourseRecapScreen) and app.screen.is_mounted)
        await until(pilot, lambda: laid_out(app))
        nothing_is_cut_off(app)


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("name", [name for name in EVERY_SCREEN if name not in ("solution", "toast")])
async def test_no_words_are_wider_than_their_place(
    app: CourseApp, fake: FakeGrader, name: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "load", lambda _lessons=app.catalog: _lessons)
    async with app.run_test(size=SMALL) as pilot:
        await open_screen(name, pilot, app, fake)
        app.speak(code)
        await pilot.pause()
        nothing_is_cut_off(app)


async def _said_in(pilot: Pilot[None], app: CourseApp, code: str) -> None:
    app.speak(code)
    await pilot.pause()
    await pilot.pause()


async def test_a_change_of_language_keeps_text_caret_undo_and_focus(
    app: CourseApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "load", lambda _lessons=app.catalog: _lessons)
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", *"abc")
        before, caret = editor(app).text, editor(app).cursor_location
        await _said_in(pilot, app, "it")
        assert (editor(app).text, editor(app).cursor_location) == (before, caret)
        assert editor(app).has_focus
        assert "Esegui F5" in buttons(app)
        assert {"Aiuto", "Avanti"} <= {key.description for key in footer(app).keys}
        await press(pilot, "ctrl+z")
        assert editor(app).text != before


async def test_a_change_of_language_lets_a_program_run_on(
    app: CourseApp, fake: FakeGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "load", lambda _lessons=app.catalog: _lessons)
    fake.holds = True
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f5")
        await until(pilot, lambda: fake.asked)
        await _said_in(pilot, app, "fr")
        assert app.job is not None
        await until(pilot, lambda: "En cours" in panel(app).status.text.plain)
        assert panel(app).output.text.startswith("hello")
        await press(pilot, "f8")
        await until(pilot, lambda: app.job is None)
        await until(pilot, lambda: "Arrêté" in panel(app).status.text.plain)
        await _said_in(pilot, app, "it")
        assert "Interrotto" in panel(app).status.text.plain


async def test_a_verdict_and_its_task_are_said_again(
    app: CourseApp, fake: FakeGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "load", lambda _lessons=app.catalog: _lessons)
    fake.verdict = verdict(CheckResult("Returns seconds", True, 5, 5), status="passed")
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f6")
        await until(pilot, lambda: "Passed" in shown(app))
        await _said_in(pilot, app, "fr")
        assert "✓ Réussi" in shown(app)
        assert "Passed" not in shown(app)


async def test_the_palette_offers_the_other_languages_and_the_choice_is_kept(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        offered = [command.title for command in app.language_commands()]
        assert offered == ["Language: Italiano", "Language: Français"]
        await _said_in(pilot, app, "fr")
        assert [command.title for command in app.language_commands()] == [
            "Langue\N{NO-BREAK SPACE}: English",
            "Langue\N{NO-BREAK SPACE}: Italiano",
        ]
        use("en")
        language.begin()
        assert current() == "fr"


async def test_the_same_card_is_shown_in_the_other_language(own: Workspace, kept: Progress, fake: FakeGrader) -> None:
    app = CourseApp(catalog.load(language="en"), Workspace(own.folder), kept, lambda: fake)
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/which_clock")
        await _said_in(pilot, app, "it")
        assert app.screen.step.title == "Quale orologio?"
        assert "**" not in shown(app)
        assert "Previsione:" in shown(app)
        assert "Che cosa si aspetta?" in shown(app)


def test_each_term_is_decided_once() -> None:
    terms = msgspec.toml.decode((folders.LESSONS.parent / "languages/terms.toml").read_bytes())["terms"]
    assert all(set(said) <= set(OTHERS) for said in terms.values())


def test_a_card_that_a_language_lacks_is_in_english(lessons: Path) -> None:
    file = lessons / "1_perf_counter" / "it.md"
    file.write_text("# Prima misurare\n\nCronometrare.\n\n## Una scheda {#second_card}\n\nTesto.\n", "utf-8")
    first, second, *_rest = catalog.load(lessons, "it").lessons[0].steps
    assert (first.title, second.title) == ("A card with code", "Una scheda")
    assert catalog.load(lessons, "it").lessons[1].title == "Wait"
