"""The command palette: every action of the screen, and every step of the course."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.types import IgnoreReturnCallbackType

if TYPE_CHECKING:
    from course.app.app import CourseApp

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
            words = binding.tooltip or binding.description
            yield f"{binding.description} ({key_in_words(binding.key)})", run, words

    def _steps(self) -> Iterator[Command]:
        app = cast("CourseApp", self.app)
        for lesson in app.catalog.lessons:
            for step in lesson.steps:
                title = f"Go to {lesson.number} {lesson.title}: {step.title}"
                yield title, partial(app.go_to, step), step.kind.capitalize()

    async def discover(self) -> Hits:
        for title, run, words in self._actions():
            yield DiscoveryHit(title, run, help=words)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, run, words in (*self._actions(), *self._steps()):
            if (score := matcher.match(title)) > 0:
                yield Hit(score, matcher.highlight(title), run, help=words)
