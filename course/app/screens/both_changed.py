"""Asks which version of a file stays when it was changed here and by another program."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from course.app.widgets.actions import ActionBar, ActionButton
from lab.language import N_, _

QUESTION = N_("""\
Another program saved {file} while you changed it here. Which version stays?
The other one is kept in the backups folder beside it.""")


class BothChangedScreen(ModalScreen[str]):
    """Answers "mine" or "theirs"; escape decides nothing."""

    CSS_PATH = "dialog.tcss"
    EXPLAINS = N_(
        "A question: k keeps your version, t takes the other one. Escape decides later; nothing is lost meanwhile.\n"
    )
    BINDINGS = [  # noqa: RUF012
        Binding("k", "answer('mine')", N_("Keep mine"), id="both.mine"),
        Binding("t", "answer('theirs')", N_("Take theirs"), id="both.theirs"),
        Binding("d", "difference", N_("See the difference"), id="both.difference"),
        Binding("escape", "dismiss", N_("Later"), id="both.later"),
    ]

    def __init__(self, file: str, mine: str, theirs: str) -> None:
        super().__init__()
        self._file = file
        self._lines = list(
            unified_diff(theirs.splitlines(), mine.splitlines(), _("the other version"), _("yours"), lineterm="")
        )

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog", classes="-wide-question"):
            yield Static(_(QUESTION, file=self._file), id="question", markup=False)
            with VerticalScroll(id="difference"):
                yield Static(Content("\n").join(self._coloured()), markup=False)
            yield ActionBar(
                ActionButton(N_("Keep mine"), "k", "answer('mine')"),
                ActionButton(N_("Take theirs"), "t", "answer('theirs')"),
                ActionButton(N_("Difference"), "d", "difference"),
                right=[ActionButton(N_("Later"), "Esc", "dismiss")],
            )

    def _coloured(self) -> Iterator[Content]:
        for line in self._lines:
            style = {"+": "$text-success", "-": "$text-error", "@": "$foreground 60%"}.get(line[:1], "")
            yield Content.styled(line, style) if style else Content(line)

    def on_mount(self) -> None:
        self.query_one("#difference").display = False

    def action_answer(self, kept: str) -> None:
        self.dismiss(kept)

    def action_difference(self) -> None:
        """Show what the versions have different, or hide it."""
        difference = self.query_one("#difference")
        difference.display = not difference.display
        if difference.display:
            difference.focus()
