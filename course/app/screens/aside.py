"""A card on top of another screen, to explain what is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.binding import Binding

from course.app.screens.lesson import CardScroll, LessonScreen
from course.app.widgets.prose import Prose
from lab.language import N_

if TYPE_CHECKING:
    from course.catalog import Step


class AsideScreen(LessonScreen):
    """A card on top of another screen: it explains a mistake or a term, or was searched for."""

    aside = True
    EXPLAINS = N_("""\
A card on top of where you were, which explains what the check found, teaches a term, or was searched for. Escape goes
back; Ctrl+N leaves the other screen and goes on from this card.
""")
    BINDINGS = [  # noqa: RUF012
        Binding("escape", "back_to_code", N_("Back"), id="back.code", tooltip=N_("Go back to where you were")),
        Binding("ctrl+n", "stay", N_("Go on from here"), id="aside.stay", tooltip=N_("Go on from this card")),
        Binding(
            "ctrl+o",
            "next_card",
            N_("Next card"),
            id="aside.next",
            tooltip=N_("Read the card on the next thing that the check found"),
        ),
    ]

    def __init__(self, step: Step, words: Sequence[str] = (), then: Callable[[], None] | None = None) -> None:
        """
        Args:
            step: The card.
            words: What is marked in it.
            then: Opens the card after this one, where there is one.
        """
        super().__init__(step)
        self._words = words
        self._then = then

    def show(self, step: Step) -> None:
        super().show(step)
        if self._words:
            for prose in self.query(Prose):
                prose.mark(self._words)
            self.call_after_refresh(self._show_words)

    def _show_words(self) -> None:
        """Scroll to the first place that has most of the words."""
        card = self.query_one("#card", CardScroll)
        for prose in self.query(Prose):
            row = prose.row_of(self._words)
            if prose.display and row is not None:
                card.scroll_to(y=prose.virtual_region.y + row - card.size.height // 3, animate=False)
                return

    def action_back_to_code(self) -> None:
        self.dismiss()

    def action_stay(self) -> None:
        self.course.go_to(self.step)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "next_card":
            return self._then is not None
        return super().check_action(action, parameters)

    def action_next_card(self) -> None:
        if self._then is not None:
            self.dismiss()
            self._then()
