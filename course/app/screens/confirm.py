"""A question with two answers, before something that the learner might regret."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from course.app.widgets.actions import ActionBar, ActionButton
from lab.language import N_


class ConfirmScreen(ModalScreen[bool]):
    """Asks; escape and n say no."""

    CSS_PATH = "dialog.tcss"
    EXPLAINS = N_("A question: y says yes, n or Escape says no.\n")
    BINDINGS = [  # noqa: RUF012
        Binding("y,enter", "answer(True)", N_("Yes"), id="confirm.yes"),
        Binding("n,escape", "answer(False)", N_("No"), id="confirm.no"),
    ]

    def __init__(self, question: str, yes: str) -> None:
        super().__init__()
        self._question = question
        self._yes = yes

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(self._question, id="question", markup=False)
            yield ActionBar(
                ActionButton(self._yes, "y", "answer(True)"),
                right=[ActionButton(N_("Cancel"), "Esc", "answer(False)")],
            )

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
