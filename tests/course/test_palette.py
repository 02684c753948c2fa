"""The command palette: what does something is found before places that only have the words, by its other names too."""

from __future__ import annotations

import pytest

from course.app.app import CourseApp
from course.app.commands import CourseCommands
from lab.language import use
from tests.course.conftest import EXERCISE
from tests.course.test_app import SMALL, go_to

FOUND = [
    ("reduc", "Motion: off"),
    ("animation", "Motion: off"),
    ("blink", "Motion: off"),
    ("light", "Theme: light"),
    ("colors", "Theme: "),
    ("accessib", "Theme: high contrast"),
    ("exit", "Quit"),
    ("home", "Course map"),
    ("report", "Course recap"),
    ("perfetto", "Open a trace…"),
    ("picture", "Screenshot"),
    ("dictionary", "Glossary"),
    ("favorite", "Bookmark"),
    ("shortcuts", "Help"),
    ("execute", "Run"),
    ("grade", "Check"),
    ("clue", "Hint"),
    ("start over", "Reset"),
    ("compare", "Solution"),
    ("vim", "Your editor"),
    ("replace", "Find"),
    ("lingua", "Language: "),
    ("italian", "Language: Italiano"),
]


async def best(app: CourseApp, query: str) -> list[str]:
    """The titles with the highest score."""
    hits = [hit async for hit in CourseCommands(app.screen).search(query)]
    highest = max((hit.score for hit in hits), default=0)
    return [str(hit.text) for hit in hits if hit.score == highest]


async def test_what_does_something_is_found_by_its_other_names_too(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        for query, title in FOUND:
            assert any(each.startswith(title) for each in await best(app, query)), query


async def test_nothing_is_offered_twice_and_only_our_themes_are(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        offered = [
            str(hit.text).partition(" (")[0] for hit in [hit async for hit in CourseCommands(app.screen).discover()]
        ]
        assert len(offered) == len(set(offered))
        themes = [title for title in offered if title.startswith("Theme")]
        assert sorted(themes) == ["Theme: high contrast", "Theme: light", "Theme: the terminal's own colours"]


@pytest.mark.parametrize(
    ("language", "words"), [("it", ("animazion", "giorno", "esegu")), ("fr", ("animation", "jour", "exécut"))]
)
async def test_other_names_are_found_in_the_other_languages(
    app: CourseApp, language: str, words: tuple[str, ...]
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        use(language)
        try:
            for query in words:
                assert await best(app, query), query
        finally:
            use("en")
