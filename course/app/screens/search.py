"""Search over all cards, exercises, quizzes and terms, with results as one types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from course.app.screens.base import CourseScreen
from course.app.widgets.actions import ActionBar, ActionButton
from course.app.widgets.choice_list import ChoiceList
from course.app.widgets.prose import marked
from course.search import marks, words_in
from lab.language import N_, _, ngettext

if TYPE_CHECKING:
    from course.search import Found

MOST_SHOWN = 40
KIND_WORDS = {"card": "", "exercise": N_("exercise"), "quiz": N_("quiz"), "recap": N_("recap")}
BEFORE_MATCH = 24
"""How many letters are kept before the first match of a line that is too long."""
WHAT_TO_TYPE = N_(
    "Type words of a card, an exercise or a term: pinned memory, .item(), peak. All of them have to be there."
)


class SearchScreen(CourseScreen):
    """Finds a step or a term by its words."""

    CSS_PATH = "search.tcss"
    AUTO_FOCUS = "#query"
    EXPLAINS = N_("""\
Search over all cards, exercises, quizzes, recaps and terms of the glossary. Type one or more words or parts of words;
all of them have to be there, capitals and accents make no difference. What has them in its title comes first.

Enter opens a card on top of where you were, with the words marked, and Escape brings you back; Ctrl+N in the card goes
on from there. Exercises, quizzes and recaps are gone to.
""")
    BINDINGS = [  # noqa: RUF012
        Binding("f1", "app.help", N_("Help"), id="help", priority=True, tooltip=N_("Show this help")),
        Binding("enter", "open", N_("Open"), id="search.open", tooltip=N_("Open what is chosen")),
        Binding("down", "move(1)", N_("Down"), id="search.down", tooltip=N_("Choose the next one")),
        Binding("up", "move(-1)", N_("Up"), id="search.up", tooltip=N_("Choose the one before")),
        Binding("pagedown", "move(5)", N_("Further down"), show=False, id="search.page.down"),
        Binding("pageup", "move(-5)", N_("Further up"), show=False, id="search.page.up"),
        Binding("escape", "back", N_("Back"), id="search.back", tooltip=N_("Go back to where you were")),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._found: list[Found] = []
        self._words: list[str] = []

    def body(self) -> ComposeResult:
        yield Input(placeholder=_("Search"), id="query", compact=True)
        yield Static(id="count", markup=False)
        yield ChoiceList(id="found")
        yield ActionBar(ActionButton(N_("Open"), "Enter", "open"), right=[ActionButton(N_("Back"), "Esc", "back")])

    @property
    def results(self) -> ChoiceList:
        return self.query_one("#found", ChoiceList)

    def open(self) -> None:
        self.header.place = Content.styled(_("Search"), "bold")
        self.results.can_focus = False
        self._show()

    def retell(self) -> None:
        super().retell()
        self.header.place = Content.styled(_("Search"), "bold")
        query = self.query_one("#query", Input)
        query.placeholder = _("Search")
        self._found = self.course.search_index.find(query.value)
        self._show()

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        self._words = words_in(event.value)
        self._found = self.course.search_index.find(event.value)
        self._show()

    @on(ChoiceList.Resized)
    def _fit(self) -> None:
        highlighted = self.results.highlighted
        self._show()
        self.results.highlighted = highlighted

    def _show(self) -> None:
        shown = self._found[:MOST_SHOWN]
        width = max(self.results.size.width - 3, 20)
        results = self.results
        results.clear_options()
        results.add_options([Option(_result(each, self._words, width)) for each in shown])
        results.highlighted = 0 if shown else None
        self.query_one("#count", Static).update(self._count())

    def _count(self) -> Content:
        if not self._words:
            return Content.styled(_(WHAT_TO_TYPE), "$foreground 60%")
        number = len(self._found)
        if not number:
            return Content.assemble(
                (_("Nothing has all of these words. "), "$text-warning"),
                _("Leave one out or shorten it: "),
                ("synchron", "$text-accent"),
                _(" finds synchronize and synchronizing, too."),
            )
        more = (
            _(", the best {most} are shown; another word makes it fewer", most=MOST_SHOWN)
            if number > MOST_SHOWN
            else ""
        )
        return Content.styled(ngettext("{n} place", "{n} places", number) + more, "$foreground 60%")

    def action_move(self, rows: int) -> None:
        results = self.results
        if results.option_count:
            results.highlighted = min(max((results.highlighted or 0) + rows, 0), results.option_count - 1)

    def action_back(self) -> None:
        self.dismiss()

    @on(Input.Submitted)
    def action_open(self) -> None:
        if self.results.highlighted is not None:
            self._open(self._found[self.results.highlighted])

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self._open(self._found[event.option_index])

    def _open(self, found: Found) -> None:
        page, words = found.page, self._words
        self.dismiss()
        if page.term is not None:
            self.course.show_term(page.term)
        elif page.step is not None and page.step.kind == "card":
            self.course.show_aside(page.step.id, words)
        elif page.step is not None:
            self.course.go_to(page.step)


def _result(found: Found, words: list[str], width: int) -> Content:
    page = found.page
    number = str(page.lesson) if page.lesson is not None else "·"
    kind = _(KIND_WORDS[page.step.kind]) if page.step is not None else _("term")
    head = Content.assemble(
        (f"{number}  ", "$text-primary"),
        marked(Content.styled(page.title, "bold"), words),
        (f"  {kind}" if kind else "", "$text-accent"),
    )
    line = _around(found.line or next(iter(page.lines), ""), words, width - 3)
    return Content("\n").join([head.truncate(width, ellipsis=True), Content.assemble("   ", marked(line, words))])


def _around(line: str, words: list[str], width: int) -> Content:
    """As much of a line as there is room for, with its first match."""
    first = next(iter(marks(line, words)), (0, 0))[0]
    begin = max(first - BEFORE_MATCH, 0) if len(line) > width else 0
    begin = line.find(" ", begin, first) + 1 or begin if begin else 0  # not within a word, if one ends before the match
    cut = f"…{line[begin:]}" if begin else line
    return Content.styled(cut, "$foreground 80%").truncate(width, ellipsis=True)
