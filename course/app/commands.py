"""The command palette: every action of the screen, and every step of the course, found by its title and its text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.types import IgnoreReturnCallbackType

from lab.language import N_, _

if TYPE_CHECKING:
    from course.app.app import CourseApp
    from course.catalog import Step

# Above any score of letters that only occur in this order.
IN_TITLE, IN_TEXT = 1000.0, 500.0

KIND_TITLES = {"card": N_("Card"), "exercise": N_("Exercise"), "quiz": N_("Quiz"), "recap": N_("Recap")}

Command = tuple[str, IgnoreReturnCallbackType, str]


class CourseCommands(Provider):
    """What the screen can do, with its key, then the steps to go to."""

    def _actions(self) -> Iterator[Command]:
        from course.app.screens.help import key_in_words, own_bindings

        listed: set[str] = set()
        for binding in own_bindings(self.screen):
            if binding.action in listed or binding.action.startswith("choose"):
                continue
            listed.add(binding.action)
            run = partial(self.screen.run_action, binding.action)
            words = _(binding.tooltip or binding.description)
            yield f"{_(binding.description)} ({key_in_words(binding.key)})", run, words

    def _steps(self) -> Iterator[tuple[Step, Command]]:
        app = cast("CourseApp", self.app)
        for lesson in app.catalog.lessons:
            for step in lesson.steps:
                title = _("Go to {number} {lesson}: {step}", number=lesson.number, lesson=lesson.title, step=step.title)
                yield step, (title, partial(app.go_to, step), _(KIND_TITLES[step.kind]))

    def _bookmarks(self) -> Iterator[Command]:
        app = cast("CourseApp", self.app)
        for step in app.bookmarked():
            lesson = app.catalog.lesson(step.lesson)
            number = lesson.number if lesson else ""
            title = _("Bookmark: {number} {step}", number=number, step=step.title)
            yield title, partial(app.go_to, step), _("Go there")

    async def discover(self) -> Hits:
        for title, run, words in (*self._actions(), *self._bookmarks()):
            yield DiscoveryHit(title, run, help=words)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        wanted = " ".join(query.split()).lower()
        for title, run, words in (*self._actions(), *self._bookmarks()):
            if score := _literally(wanted, title) * IN_TITLE or matcher.match(title):
                yield Hit(score, matcher.highlight(title), run, help=words)
        for step, (title, run, words) in self._steps():
            if score := _literally(wanted, title) * IN_TITLE or _literally(wanted, step.text) * IN_TEXT:
                yield Hit(score, matcher.highlight(title), run, help=_around(wanted, step.text) or words)
            elif (score := matcher.match(title)) > 0:
                yield Hit(score, matcher.highlight(title), run, help=words)


def _literally(wanted: str, text: str) -> float:
    """How well a text has what is wanted, letter by letter: at the beginning of a word, within one, or not at all."""
    at = text.lower().find(wanted) if wanted else -1
    if at < 0:
        return 0.0
    return 0.9 if at and text[at - 1].isalnum() else 1.0


def _around(wanted: str, text: str) -> str:
    """The line of a text that has what is wanted."""
    lines = (line.strip() for line in text.splitlines() if wanted in line.lower())
    return next(lines, "")
