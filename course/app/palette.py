"""Textual's command palette in the reader's language."""

from __future__ import annotations

from rich.align import Align
from rich.text import Text
from textual import command
from textual.widgets.option_list import Option

from course.app.reverse import keep_reverse
from lab.language import _

keep_reverse()


class CommandPalette(command.CommandPalette):
    """Says in the reader's language that nothing was found."""

    def _start_no_matches_countdown(self, search_value: str) -> None:
        self._stop_no_matches_countdown()

        def show_no_matches() -> None:
            if search_value:
                nothing = Align.center(Text(_("No matches found"), style="not bold"))
                self.query_one(command.CommandList).add_option(Option(nothing, disabled=True, id=self._NO_MATCHES))
            self._list_visible = bool(search_value)

        self._no_matches_timer = self.set_timer(self._NO_MATCHES_COUNTDOWN, show_no_matches)
