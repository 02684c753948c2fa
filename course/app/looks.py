"""How the app looks: its themes, and whether anything moves. Chosen in the command palette, and kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

from textual.app import App, SystemCommand
from textual.theme import Theme

from course.app.themes import DARK, OURS, WITHOUT_COLOUR
from course.progress import Progress
from lab.language import _

MOTION = "motion"
STILL = "still"


class Looks(App[None]):
    """The part of the app that knows what it looks like."""

    progress: Progress

    def begin_to_look(self) -> None:
        """Look as was chosen before; told so by the environment, as it says."""
        for theme, _title, _words in OURS:
            if theme.name not in self.available_themes:
                self.register_theme(theme)
        self.theme = self._first_theme()
        if self.progress.setting(MOTION) == STILL:
            self.animation_level = "none"

    def _first_theme(self) -> str:
        if "TEXTUAL_THEME" in os.environ:
            return self.theme
        if os.environ.get("NO_COLOR"):
            return WITHOUT_COLOUR
        kept = self.progress.setting("theme")
        return kept if kept in self.available_themes else DARK.name

    def keep_theme(self, name: str) -> None:
        if not os.environ.get("NO_COLOR"):
            self.progress.set("theme", name)

    @property
    def is_still(self) -> bool:
        """Whether nothing may move: no spinner, no blinking, no sliding."""
        return self.animation_level == "none"

    def look_commands(self) -> Iterator[SystemCommand]:
        """What can be chosen."""
        for theme, title, words in OURS:
            if theme.name != self.theme:
                yield SystemCommand(_(title), _(words), partial(setattr, self, "theme", theme.name))
        if self.is_still:
            yield SystemCommand(_("Motion: on"), _("Scroll smoothly, let the caret blink"), partial(self._move, True))
        else:
            yield SystemCommand(_("Motion: off"), _("Nothing slides, spins or blinks"), partial(self._move, False))

    def _move(self, moves: bool) -> None:
        self.animation_level = "full" if moves else "none"
        self.progress.set(MOTION, "moves" if moves else STILL)
        for widget in self.screen.query("Editor"):
            widget.cursor_blink = moves  # type: ignore[attr-defined]

    def get_theme(self, theme_name: str) -> Theme | None:
        # Asked hundreds of times for each screen; Textual's own makes a new dictionary of all themes each time.
        themes: dict[str, Any] = self._registered_themes
        return themes.get(theme_name) or super().get_theme(theme_name)
