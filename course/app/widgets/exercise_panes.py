"""The panes of an exercise beside the editor: the task, and what the checks say."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll

from course.app.prose import Block
from course.app.widgets.prose import Prose
from lab.language import N_


class TaskScroll(VerticalScroll):
    """The task and the hints; scrolls with the arrows, j and k."""

    BINDINGS = [  # noqa: RUF012
        Binding("j", "scroll_down", N_("Scroll down"), show=False, id="task.down"),
        Binding("k", "scroll_up", N_("Scroll up"), show=False, id="task.up"),
    ]


class VerdictView(VerticalScroll):
    """What the checks say; scrolls with the arrows, j and k."""

    BINDINGS = [  # noqa: RUF012
        Binding("j", "scroll_down", N_("Scroll down"), show=False, id="verdict.down"),
        Binding("k", "scroll_up", N_("Scroll up"), show=False, id="verdict.up"),
    ]

    def __init__(self) -> None:
        super().__init__(id="verdict")
        self._prose = Prose(id="verdict-text")

    def compose(self) -> ComposeResult:
        yield self._prose

    def show(self, blocks: Sequence[Block]) -> None:
        """Show a verdict."""
        self._prose.show(blocks)
        self.scroll_home(animate=False)
