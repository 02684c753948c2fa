"""What a learner looks for is found: by the search, in the glossary, among the bookmarks."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Input, Static

from course import catalog, search, terms
from course.app.app import CourseApp
from course.app.screens.aside import AsideScreen
from course.app.screens.base import CourseScreen
from course.app.screens.exercise import ExerciseScreen
from course.app.screens.glossary import GlossaryScreen
from course.app.screens.lesson import LessonScreen
from course.app.screens.search import SearchScreen, _around
from course.app.widgets.choice_list import ChoiceList
from course.app.widgets.prose import FOUND, Prose
from course.catalog import CatalogError
from course.search import Index, Page
from course.terms import Term
from tests.course.conftest import EXERCISE
from tests.course.test_app import SMALL, WIDE, go_to, press, shown, until

TERM = Term("stream", "Stream", ("Stream", "queue"), "A queue of the GPU.", "synchronize/only")


@pytest.fixture(scope="module")
def index() -> Index:
    """The whole course."""
    return Index(search.pages(catalog.load(), terms.load()))


def titles(index: Index, query: str) -> list[str]:
    return [found.page.title for found in index.find(query)]


# The search


def test_all_words_have_to_be_there_whatever_their_case_and_accents() -> None:
    index = Index([Page("Café", ("one two", "three"), 1), Page("Tea", ("one", "four"), 2)])
    assert titles(index, "ONE") == ["Café", "Tea"]
    assert titles(index, "one three") == ["Café"]
    assert titles(index, "cafe") == titles(index, "CAFÉ") == ["Café"]
    assert titles(index, "three four") == titles(index, "  ") == []


def test_a_title_comes_before_a_text_and_a_phrase_before_scattered_words() -> None:
    index = Index(
        [
            Page("Other", ("gpu and memory",), 1),
            Page("Another", ("of the gpu memory it is",), 1),
            Page("Of GPU memory", ("nothing",), 2),
            Page("GPU memory", ("nothing",), 3),
        ]
    )
    assert titles(index, "gpu memory") == ["GPU memory", "Of GPU memory", "Another", "Other"]


def test_the_line_with_most_of_the_words_is_shown() -> None:
    (found,) = Index([Page("Title", ("a pinned tensor", "pinned memory", "memory"), 1)]).find("pinned memory")
    assert found.line == "pinned memory"


def test_a_line_is_a_paragraph_an_item_or_a_line_of_code() -> None:
    step = catalog.Step("card", "lesson", "card", "Card", "Two\n**lines**.\n\n- `one`\n- two\n\n```python\na\nb\n```\n")
    lessons = catalog.Catalog((catalog.Lesson("lesson", 1, "Lesson", "", 1, (step,)),))
    (page,) = search.pages(lessons, ())
    assert page.lines == ("Two lines.", "one", "two", "a", "b")


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("kernel", "Kernel"),
        ("pinned", "Pinned memory"),
        ("launch is not", "A launch is not the work"),
        ("detach", "Detach"),
        ("nvidia-smi", "CUDA context"),
        ("remove hidden", "Remove the hidden waits"),
        (".nonzero()", "Whoever reads, waits"),
    ],
)
def test_the_course_is_searched_sensibly(query: str, first: str, index: Index) -> None:
    assert titles(index, query)[0] == first


def test_briefs_of_exercises_quizzes_and_predictions_are_searched(index: Index) -> None:
    kinds = {found.page.step.kind for found in index.find("the") if found.page.step is not None}
    assert kinds == {"card", "exercise", "quiz", "recap"}
    assert "Which clock?" in titles(index, "which clock doesn't see")


@given(st.text(max_size=30), st.lists(st.text(min_size=1, max_size=3), max_size=3))
def test_what_is_marked_in_a_text_is_one_of_the_words(text: str, words: list[str]) -> None:
    wanted = search.words_in(" ".join(words))
    for start, end in search.marks(text, wanted):
        assert 0 <= start < end <= len(text)
        assert any(word in search.fold(text[start:end]) for word in wanted)


def test_a_key_takes_a_small_part_of_what_an_eye_notices(index: Index) -> None:
    queries = ["k", "ke", "kernel", "the", "e", "step memory", "no such words at all"]
    index.find("warm up")
    begun_s = time.process_time()
    for query in queries:
        index.find(query)
    # About 1 ms each where nothing else runs; the limit is that of the app, and CPU time doesn't wait for others.
    assert (time.process_time() - begun_s) / len(queries) < 0.02


async def type_in(pilot: object, app: CourseApp, text: str) -> None:
    query = app.screen.query_one("#query", Input)
    query.value = text
    await pilot.pause()  # type: ignore[attr-defined]


def shown_results(app: CourseApp) -> list[str]:
    return [str(option.prompt) for option in app.screen.query_one("#found", ChoiceList).options]


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_a_card_found_is_shown_on_top_with_the_words_marked(size: tuple[int, int], app: CourseApp) -> None:
    async with app.run_test(size=size) as pilot:
        await go_to(pilot, app, EXERCISE)
        under = app.screen
        await press(pilot, "slash")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen) and app.screen.focused is not None)
        await press(pilot, "b", "o", "l", "d")
        await until(pilot, lambda: any("first" in each or "bold" in each for each in shown_results(app)))
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, AsideScreen))
        assert app.screen.step.name == "first_card"
        await until(pilot, lambda: _marked(app.screen))
        await press(pilot, "escape")
        await until(pilot, lambda: app.screen is under)


def _marked(screen: object) -> list[str]:
    prose = screen.query_one("#before", Prose)  # type: ignore[attr-defined]
    content = prose.render()
    return [content.plain[span.start : span.end] for span in content.spans if span.style == FOUND]


async def test_the_search_says_what_to_do_where_nothing_is_found(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await press(pilot, "slash")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen) and app.screen.is_mounted)
        await type_in(pilot, app, "zzz")
        assert "Leave one out" in str(app.screen.query_one("#count", Static).render())
        await press(pilot, "enter")
        assert isinstance(app.screen, SearchScreen)
        await press(pilot, "escape")
        assert isinstance(app.screen, LessonScreen)


async def test_an_exercise_found_is_gone_to(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "synchronize/only")
        await press(pilot, "slash")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen) and app.screen.is_mounted)
        await type_in(pilot, app, "time_step")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, ExerciseScreen))


async def test_the_arrows_choose_while_one_types_and_a_term_opens_the_glossary(app: CourseApp) -> None:
    app.__dict__["terms"] = (TERM,)
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "synchronize/only")
        await press(pilot, "slash")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen) and app.screen.is_mounted)
        await type_in(pilot, app, "e")
        results = app.screen.query_one("#found", ChoiceList)
        await press(pilot, "down", "down", "up")
        assert results.highlighted == 1
        await type_in(pilot, app, "queue of")
        assert "Stream  term" in shown_results(app)[0]
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, GlossaryScreen))


async def test_a_slash_and_a_g_are_typed_into_the_search_and_into_the_editor(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "slash", "g", "b")
        assert isinstance(app.screen, ExerciseScreen)
        assert "/gb" in app.screen.editor.text
        await press(pilot, "escape", "slash")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen) and app.screen.focused is not None)
        await press(pilot, "slash", "g", "b")
        assert app.screen.query_one("#query", Input).value == "/gb"


async def test_from_a_card_on_top_one_can_go_on_from_there(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        app.show_aside("perf_counter/second_card")
        await until(pilot, lambda: isinstance(app.screen, AsideScreen) and app.screen.is_mounted)
        await press(pilot, "ctrl+n")
        await until(pilot, lambda: type(app.screen) is LessonScreen)
        assert app.screen.step.name == "second_card"
        assert len(app.screen_stack) == 2


def test_a_line_that_is_too_long_is_shown_from_a_word_before_its_first_match() -> None:
    line = f"{'word ' * 20}pinned memory {'word ' * 20}"
    shown = _around(line, ["pinned"], 40).plain
    assert shown.startswith("…word ")
    assert "pinned memory" in shown
    assert len(shown) <= 40
    assert _around("a" * 100 + "pinned", ["pinned"], 40).plain.startswith("…aaa")


async def test_the_help_names_the_keys_that_find_something(app: CourseApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await press(pilot, "f1")
        for line in (
            "/  ",
            "Search all cards, exercises and terms",
            "Look up the words of this card",
            "Mark this step",
        ):
            assert line in shown(app)


# The glossary


def test_a_term_is_found_at_the_beginning_of_a_word_only() -> None:
    total = Term("total", "Total", ("Total",), "", "")
    assert terms.used_in([total], "The total.") == terms.used_in([total], "Totals") == [total]
    assert terms.used_in([total], "subtotal") == []


def test_terms_come_in_the_order_of_the_text() -> None:
    one, two = (Term(name, name, (name,), "", "") for name in ("one", "two"))
    assert terms.used_in([one, two], "two of one") == [two, one]


def test_each_term_is_first_used_on_one_step() -> None:
    course, glossary = catalog.load(), terms.load()
    first = terms.first_used(glossary, course)
    assert sorted(term.id for used in first.values() for term in used) == sorted(term.id for term in glossary)
    assert [term.title for term in first["perf_counter/median_and_spread"]] == ["Median", "Spread"]


def test_a_glossary_that_cant_be_read_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"glossary\.toml"):
        terms.load(tmp_path)
    (tmp_path / "glossary.toml").write_text("")
    (tmp_path / "en.md").write_text("## Kernel {#kernel}\n\nText.\n")
    with pytest.raises(CatalogError, match=r"'kernel' of en\.md has no card"):
        terms.load(tmp_path)


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_the_glossary_opens_at_the_word_that_is_new_on_the_card(
    size: tuple[int, int], make_app: Callable[[], CourseApp]
) -> None:
    app = make_app()
    app.catalog = catalog.load()
    async with app.run_test(size=size) as pilot:
        await go_to(pilot, app, "synchronize/events")
        under = app.screen
        await press(pilot, "g")
        await until(pilot, lambda: isinstance(app.screen, GlossaryScreen) and app.screen.choices.option_count)
        choices = app.screen.choices
        assert choices.highlighted_option is not None
        assert choices.highlighted_option.id == "event"
        assert str(choices.highlighted_option.prompt).startswith("◆ Event")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, AsideScreen))
        assert app.screen.step.id == "synchronize/events"
        await press(pilot, "escape", "escape")
        await until(pilot, lambda: app.screen is under)


async def test_no_term_is_cut_off_on_a_small_terminal(make_app: Callable[[], CourseApp]) -> None:
    app = make_app()
    app.catalog = catalog.load()
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "synchronize/events")
        await press(pilot, "g")
        await until(pilot, lambda: isinstance(app.screen, GlossaryScreen) and app.screen.choices.option_count)
        rows = [str(option.prompt) for option in app.screen.choices.options]
        assert max(len(line) for row in rows for line in row.split("\n")) <= app.screen.choices.size.width - 2


# Bookmarks


async def test_b_marks_a_step_and_takes_the_mark_away(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, "perf_counter/second_card")
        await press(pilot, "b")
        assert app.progress.bookmarks() == ["perf_counter/second_card"]
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "b")
        assert app.progress.bookmarks() == ["perf_counter/second_card", EXERCISE]
        await press(pilot, "b")
        assert app.progress.bookmarks() == ["perf_counter/second_card"]


async def test_without_a_step_nothing_is_marked(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: isinstance(app.screen, CourseScreen) and app.screen.is_mounted)
        app.action_bookmark()
        assert app.progress.bookmarks() == []
