"""The glossary: the words of the field, each with what it means and the card that teaches it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from course.app.prose import Text, flow, parse
from course.app.screens.base import HELP, CourseScreen
from course.app.widgets.actions import ActionBar, ActionButton
from course.app.widgets.choice_list import ChoiceList
from lab.language import N_, _

if TYPE_CHECKING:
    from course.catalog import Catalog
    from course.terms import Term

USED_HERE = "◆ "


class GlossaryScreen(CourseScreen):
    """All terms, one of them chosen."""

    CSS_PATH = "search.tcss"
    AUTO_FOCUS = "#terms"
    EXPLAINS = N_("""\
The words of the field as the course uses them. It opens at the word that is new on the step that you come from; those
that the step uses are marked with ◆. Enter opens the card that teaches a word, and Escape brings you back. A slash
searches here and in all cards.
""")
    BINDINGS = [  # noqa: RUF012
        HELP,
        Binding("escape,g", "back", N_("Back"), id="glossary.back", tooltip=N_("Go back to where you were")),
    ]

    def __init__(self, term: Term | None, here: Sequence[Term] = ()) -> None:
        """
        Args:
            term: The one to begin at.
            here: Those that are used on the step that one comes from.
        """
        super().__init__()
        self._begin = term
        self._here = {each.id for each in here}

    def body(self) -> ComposeResult:
        yield ChoiceList(id="terms")
        yield ActionBar(ActionButton(N_("Search"), "/", "app.search"), right=[ActionButton(N_("Back"), "Esc", "back")])

    @property
    def choices(self) -> ChoiceList:
        return self.query_one("#terms", ChoiceList)

    def open(self) -> None:
        self.header.place = Content.styled(_("Glossary"), "bold")

    @on(ChoiceList.Resized)
    def _fit(self) -> None:
        choices, catalog = self.choices, self.course.catalog
        width = min(choices.size.width - 3, 92)
        begins = choices.replace(
            [Option(term_row(term, term.id in self._here, catalog, width), id=term.id) for term in self.course.terms]
        )
        if begins:
            self._go_to(self._begin)

    def retell(self) -> None:
        super().retell()
        self.open()
        option = self.choices.highlighted_option
        self._begin = next((term for term in self.course.terms if option and term.id == option.id), None)
        self._fit()
        self._go_to(self._begin)

    def _go_to(self, term: Term | None) -> None:
        ids = [each.id for each in self.course.terms]
        at = ids.index(term.id) if term is not None and term.id in ids else 0
        self.choices.highlighted = at
        self.call_after_refresh(self.choices.scroll_to_highlight, top=True)

    @on(OptionList.OptionSelected)
    def _open(self, event: OptionList.OptionSelected) -> None:
        self.course.show_aside(self.course.terms[event.option_index].card)

    def action_back(self) -> None:
        self.dismiss()


def term_row(term: Term, here: bool, catalog: Catalog, width: int) -> Content:
    """A term with its text, and where it is taught."""
    card = catalog.step(term.card)
    lesson = catalog.lesson(card.lesson) if card else None
    where = f"→ {lesson.number} {card.title}" if card and lesson else ""
    mark = Content.styled(USED_HERE if here else "  ", "$text-accent")
    blocks = [
        Text(Content.styled(term.title, "bold $text-primary"), mark),
        *(Text(block.content, Content("  "), after_gap=False) for block in parse(term.text) if isinstance(block, Text)),
        Text(Content.styled(where, "$foreground 60%"), Content("  "), after_gap=False),
    ]
    return flow(blocks, width) + Content("\n")
