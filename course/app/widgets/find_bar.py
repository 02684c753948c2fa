"""Finds text in the editor above it while one types, and replaces it."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input
from textual.widgets.text_area import Selection

from course.app import edits
from course.app.widgets.editor import Editor
from course.app.widgets.field import Field
from lab.language import N_, _, ngettext


class FoundCount(Widget, can_focus=False):
    """How many there are, and which one is shown."""

    DEFAULT_CSS = "FoundCount { width: auto; height: 1; padding: 0 1; color: $text-muted; }"

    text = reactive("", layout=True)
    """What it says."""

    def render(self) -> str:
        return self.text


class CaseSwitch(Widget, can_focus=False):
    """Says whether case matters; a click changes that."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "CaseSwitch { width: auto; height: 1; padding: 0 1; pointer: pointer; }"

    exact = reactive(False, layout=True)
    """Whether case matters."""

    def render(self) -> str:
        return _("exact case") if self.exact else _("any case")

    def on_click(self) -> None:
        self.exact = not self.exact


class FindBar(Horizontal):
    """Enter and the arrows go from match to match; Tab goes on to what to put in its place."""

    BINDINGS = [  # noqa: RUF012
        Binding(
            "enter,down",
            "next(1)",
            N_("Next match"),
            show=False,
            id="find.next",
            tooltip=N_("Go to the next match; in the second field, Enter first replaces the one that is shown"),
        ),
        Binding(
            "shift+enter,up",
            "next(-1)",
            N_("Match before"),
            show=False,
            id="find.previous",
            tooltip=N_("Go to the match before"),
        ),
        Binding(
            "escape",
            "back",
            N_("Back"),
            id="find.back",
            tooltip=N_("Go back to where the caret was; F3 instead stays at the match"),
        ),
    ]
    DEFAULT_CSS = """
    FindBar {
        height: 1; background: $panel; display: none;
        &.-open { display: block; }
        & > Field { width: 1fr; height: 1; border: none; padding: 0 1; background: $surface; }
        & > Field:focus { border: none; background: $background; }
        & > #replacement { margin-left: 1; }
    }
    """

    def __init__(self, editor: Editor, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._editor = editor
        self._before = Selection(), editor.scroll_offset
        """Where the caret was, and what was shown."""

    def compose(self) -> ComposeResult:
        yield Field(placeholder=_("Find"), id="wanted", compact=True)
        yield FoundCount()
        yield CaseSwitch()
        yield Field(placeholder=_("Tab: replace by"), id="replacement", compact=True)

    @property
    def wanted(self) -> Field:
        """What to find."""
        return self.query_one("#wanted", Field)

    def begin(self) -> None:
        """Open, with what is selected in one line as what to find."""
        editor = self._editor
        self._before = editor.selection, editor.scroll_offset
        self.add_class("-open")
        selected = editor.selected_text
        if selected and "\n" not in selected:
            self.wanted.value = selected
        # At once: what is typed next is what to find.
        self.screen.set_focus(self.wanted)
        self.wanted.action_select_all()
        self._look(jump=True)

    @on(Input.Changed, "#wanted")
    def _other_words(self, event: Input.Changed) -> None:
        event.stop()
        if self.has_class("-open"):
            self._look(jump=True)

    @on(Input.Changed, "#replacement")
    def _other_replacement(self, event: Input.Changed) -> None:
        event.stop()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input is not self.wanted:
            self._replace()
        self.action_next(1)

    def switch_case(self) -> None:
        """Mind upper and lower case, or don't."""
        switch = self.query_one(CaseSwitch)
        switch.exact = not switch.exact
        self._look(jump=True)

    def on_click(self) -> None:
        self._look(jump=False)

    def refresh_matches(self) -> None:
        """The text was changed."""
        if self.has_class("-open"):
            self._look(jump=False)

    def _look(self, *, jump: bool) -> None:
        """Find all; with `jump`, show the first one from where the caret was on."""
        editor = self._editor
        exact = self.query_one(CaseSwitch).exact
        editor.matches = edits.found(editor.document.lines, self.wanted.value, exact_case=exact)
        if jump:
            self._go_from(min(self._before[0]), 1)
        self._count()

    def _go_from(self, at: edits.Location, direction: int) -> None:
        """Select the next match from a location on, or the one before it; past the end from the beginning."""
        matches = self._editor.matches
        if not matches:
            self._editor.selection = self._before[0]
            return
        if direction > 0:
            row, start, end = next((each for each in matches if each[:2] >= at), matches[0])
        else:
            row, start, end = next((each for each in reversed(matches) if each[:2] < at), matches[-1])
        self._editor.selection = Selection((row, start), (row, end))
        self._editor.scroll_cursor_visible(center=True)

    def action_next(self, direction: int) -> None:
        top, bottom = sorted(self._editor.selection)
        self._go_from(bottom if direction > 0 else top, direction)
        self._count()

    def _replace(self) -> None:
        """Put what the second field has in the place of the match that is selected."""
        editor = self._editor
        if self._selected is not None and not editor.read_only:
            editor.history.checkpoint()
            editor.replace(self.query_one("#replacement", Field).value, *sorted(editor.selection))
            editor.history.checkpoint()
            editor.selection = Selection.cursor(max(editor.selection))
            self._look(jump=False)

    @property
    def _selected(self) -> int | None:
        """The index of the match that is selected."""
        start, end = sorted(self._editor.selection)
        shown = (*start, end[1])
        return self._editor.matches.index(shown) if start[0] == end[0] and shown in self._editor.matches else None

    def _count(self) -> None:
        total, at = len(self._editor.matches), self._selected
        words = (
            _("{at} of {total}", at=at + 1, total=total)
            if at is not None
            else ngettext("{n} found", "{n} found", total)
            if total
            else _("none")
        )
        self.query_one(FoundCount).text = words if self.wanted.value else ""

    def on_descendant_blur(self) -> None:
        # The focus is lost as well when another window of the terminal has it, and comes back.
        if self.app.app_focus:
            self.call_after_refresh(self._close_if_left)

    def _close_if_left(self) -> None:
        if not self.is_attached:  # the whole screen was left
            return
        if self.screen.focused is None or self not in self.screen.focused.ancestors:
            self.close()

    def close(self) -> None:
        """Leave the caret where it is."""
        self.remove_class("-open")
        self._editor.matches = ()

    def action_back(self) -> None:
        self.close()
        editor = self._editor
        editor.focus()
        selection, scrolled = self._before
        editor.selection = selection
        editor.scroll_to(*scrolled, animate=False, force=True)
