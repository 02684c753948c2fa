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

# Above any score of letters that only occur in this order; what does something comes before a place that has the words.
OF_ACTION, IN_TITLE, IN_OTHER_WORDS, IN_TEXT = 2000.0, 1000.0, 700.0, 500.0

KIND_TITLES = {"card": N_("Card"), "exercise": N_("Exercise"), "quiz": N_("Quiz"), "recap": N_("Recap")}

OTHER_WORDS = {
    N_("Bookmark"): N_("mark, favourite, favorite, star"),
    N_("Check"): N_("test, grade, submit, verify, points"),
    N_("Copy code"): N_("clipboard, yank"),
    N_("Copy output"): N_("clipboard, yank"),
    N_("Course map"): N_("home, menu, contents, overview, lessons, progress"),
    N_("Course recap"): N_("report, progress, score, certificate, summary"),
    N_("Find"): N_("search, replace, substitute"),
    N_("Glossary"): N_("terms, dictionary, definitions, words"),
    N_("Help"): N_("keys, shortcuts, manual, bindings"),
    N_("Hint"): N_("tip, clue, help"),
    N_("Motion: off"): N_("reduced motion, reduce animation, blinking, accessibility, still"),
    N_("Motion: on"): N_("reduced motion, animation, blinking, smooth"),
    N_("Open a trace…"): N_("profile, file, load, json, perfetto, tensorboard"),
    N_("Quit"): N_("exit, close, leave, end"),
    N_("Reset"): N_("start over, restart, begin again, starter file"),
    N_("Run"): N_("execute, start, play"),
    N_("Screenshot"): N_("picture, image, svg"),
    N_("Search"): N_("find, look up"),
    N_("Solution"): N_("answer, diff, compare"),
    N_("Stop"): N_("cancel, kill, interrupt, abort"),
    N_("Theme: dark"): N_("night mode, colours, colors, appearance, black"),
    N_("Theme: high contrast"): N_("accessibility, colours, colors, appearance"),
    N_("Theme: light"): N_("day mode, bright, colours, colors, appearance, white"),
    N_("Theme: the terminal's own colours"): N_("ansi, colors, appearance, no colour"),
    N_("Timeline"): N_("gantt, lanes, profile, kernels, memory"),
    N_("Your editor"): N_("external, vim, emacs, nano, code"),
}
"""What others call it, and learners type."""

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

    def _everywhere(self) -> Iterator[Command]:
        """What the app itself can do, wherever one is; what has a key is among the actions."""
        with_a_key = {title.partition(" (")[0] for title, _run, _words in self._actions()}
        commands = self.app.get_system_commands(self.screen)
        for title, words, run, *_discover in sorted(commands, key=lambda command: command.title):
            if title not in with_a_key:
                yield title, run, words

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

    def _commands(self) -> Iterator[Command]:
        yield from self._actions()
        yield from self._bookmarks()
        yield from self._everywhere()

    async def discover(self) -> Hits:
        for title, run, words in self._commands():
            yield DiscoveryHit(title, run, help=words)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        wanted = " ".join(query.split()).lower()
        other_words = {_(title): _(words) for title, words in OTHER_WORDS.items()}
        for title, run, words in self._commands():
            others = f"{words}\n{other_words.get(title.partition(' (')[0], '')}"
            score = _literally(wanted, title) * OF_ACTION or _literally(wanted, others) * IN_OTHER_WORDS
            if score := score or matcher.match(title):
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
    """The line of a text that has what is wanted, without the signs of Markdown."""
    lines = (line.strip() for line in text.splitlines() if wanted in line.lower())
    return next(lines, "").replace("**", "").replace("`", "").lstrip("#- ")
