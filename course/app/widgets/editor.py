"""The code editor of an exercise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from textual import events
from textual.binding import Binding
from textual.document._document import Document
from textual.document._edit import Edit
from textual.document._history import EditHistory
from textual.message import Message
from textual.theme import Theme
from textual.timer import Timer
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from course.app import edits
from course.app.keys import act, typed
from course.app.syntax import editor_theme
from course.app.widgets.code_area import CodeArea
from course.progress import Caret
from lab.language import N_

AUTOSAVE_S = 0.5
"""How long after a change it is saved at the latest; what is typed meanwhile is saved with it."""

_OURS = {"f6": "", "f7": "", "delete,ctrl+d": "delete"}
"""Keys of TextArea that mean something else here: F6 and F7 check and give a hint, Ctrl+D shows the solution."""


class Editor(CodeArea, inherit_bindings=False):
    """Python, with Tab to indent and Escape to leave."""

    BINDINGS = [  # noqa: RUF012
        *(
            replace(binding, key=_OURS.get(binding.key, binding.key))
            for binding in TextArea.BINDINGS
            if isinstance(binding, Binding) and _OURS.get(binding.key, binding.key)
        ),
        Binding("ctrl+home", "document_start", N_("To the first line"), show=False, id="editor.start"),
        Binding("ctrl+end", "document_end", N_("To the last line"), show=False, id="editor.end"),
        Binding("shift+tab", "dedent", N_("One level less deep"), show=False, id="editor.dedent"),
        Binding(
            "ctrl+underscore,ctrl+slash",
            "toggle_comment",
            N_("Comment the line or the selected lines, or make them code again"),
            show=False,
            id="editor.comment",
        ),
    ]

    class Settled(Message):
        """There are changes that were made half a second ago, or the focus was lost: time to save."""

    DEFAULT_CSS = """
    Editor {
        border: none; padding: 0; background: $background; scrollbar-size: 0 1;
        &:focus { border: none; }
        & .text-area--gutter { color: $text-muted; background: $background; }
        & .text-area--cursor-gutter { color: $text-accent; background: $surface; }
        & .text-area--cursor-line { background: $surface; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            "",
            id=id,
            theme="css",
            soft_wrap=False,
            tab_behavior="indent",
            show_line_numbers=True,
        )
        self.history = _new_history()
        self._unsaved_since: Timer | None = None
        self._wanted: Caret | None = None

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._follow_theme)
        self._follow_theme(self.app.current_theme)
        self.cursor_blink = self.app.animation_level != "none"

    def on_unmount(self) -> None:
        self.app.theme_changed_signal.unsubscribe(self)  # or the app keeps every editor that ever was

    def _follow_theme(self, _theme: Theme) -> None:
        name = f"course-{self.app.theme}"
        self.register_theme(editor_theme(name, self.app.theme_variables))
        self.theme = name

    # Other texts

    def load(self, text: str, caret: Caret | None = None, history: EditHistory | None = None) -> None:
        """Show another text, with the caret and scrolled as it says; at the beginning without it.

        Args:
            text: The text.
            caret: Where to begin.
            history: How this text came about, to be undone; none without it.
        """
        self.marks = {}
        # The one before may be needed again, and would be cleared.
        self.history = _new_history()
        self.load_text(text)
        if history is not None:
            self.history = history
            history.checkpoint()
        caret = caret or Caret()
        self.move_cursor((caret.row, caret.column))
        self._wanted = caret
        self._scroll_as_wanted()

    def take_over(self, text: str) -> None:
        """Show a text that came about elsewhere, as one change that can be undone; the caret stays where it was."""
        theirs = Document(text)
        old, new = self.document.lines, theirs.lines
        first, last = edits.unchanged_ends(old, new)
        top, bottom = (first, 0), (len(old) - last, 0)
        changed = [f"{line}\n" for line in new[first : len(new) - last]]
        if not last:  # the last line ends with the text
            bottom = self.document.end
            changed = [("\n" if first else "") + "\n".join(new[first:])] if first < len(new) else []
            top = (first - 1, len(old[first - 1])) if first else (0, 0)
        if top != bottom or changed:
            self.history.checkpoint()
            self.edit(Edit("".join(changed), top, bottom, maintain_selection_offset=True))
            self.history.checkpoint()
        if theirs.newline != self.document.newline:
            selection, scrolled = self.selection, self.scroll_offset
            self._set_document(text, self.language)
            self.selection = selection
            self.scroll_to(*scrolled, animate=False, force=True)

    def on_resize(self) -> None:
        # A pane that isn't shown has no size to scroll in.
        self._scroll_as_wanted()

    def _scroll_as_wanted(self) -> None:
        width = self.scrollable_content_region.width - self.gutter_width
        if self._wanted is None or width <= 0:
            return
        caret, self._wanted = self._wanted, None
        # A line that fits is shown from its beginning.
        column = 0 if caret.column < width else caret.scroll_x
        self.call_after_refresh(self.scroll_to, column, caret.scroll_y, animate=False, force=True)

    # Saving

    def on_text_area_changed(self) -> None:
        # Later changes don't put it off, so that nothing stays unsaved for long while one types on.
        if self._unsaved_since is None:
            self._unsaved_since = self.set_timer(AUTOSAVE_S, self._settle)

    def on_blur(self) -> None:
        self._settle()

    def _settle(self) -> None:
        if self._unsaved_since is not None:
            self._unsaved_since.stop()
            self._unsaved_since = None
        self.post_message(self.Settled())

    # Keys

    def action_document_start(self) -> None:
        self.move_cursor((0, 0))

    def action_document_end(self) -> None:
        self.move_cursor(self.document.end)

    async def on_key(self, event: events.Key) -> None:
        # TextArea's own handling of a key comes after this, unless the default is prevented.
        if event.key == "escape":
            # It would go to the next widget; here it is for the screen to say what escape does.
            event.prevent_default()
        elif event.key in ("enter", "shift+enter"):
            self._begin_line(event)
        elif event.key == "tab" and not self.selection.is_empty:
            self._take(event)
            self._change_rows(lambda lines: edits.indented(lines, self.indent_width))
        elif event.character is None and (character := typed(event)):
            self._type(event, character)
        elif not event.is_printable:
            await act(self, event)

    def _take(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()

    def _type(self, event: events.Key, text: str) -> None:
        self._take(event)
        self._replace_via_keyboard(text, *self.selection)

    def _begin_line(self, event: events.Key) -> None:
        row, column = min(self.selection)
        after_row, after_column = max(self.selection)
        before = self.document.get_line(row)[:column]
        after = self.document.get_line(after_row)[after_column:]
        indent = edits.indent_after(before, self.indent_width)
        if before[-1:] in edits.OPENING and after[:1] == edits.OPENING[before[-1:]]:
            self._type(event, f"\n{indent}\n{edits.indent_of(before)}")
            if not self.read_only:
                self.move_cursor((row + 1, len(indent)))
        else:
            self._type(event, f"\n{indent}")

    def action_delete_left(self) -> None:
        row, column = self.cursor_location
        back = edits.columns_to_delete(self.document.get_line(row)[:column], self.indent_width)
        if back > 1 and self.selection.is_empty:
            self._delete_via_keyboard((row, column - back), (row, column))
        else:
            super().action_delete_left()

    def action_dedent(self) -> None:
        self._change_rows(lambda lines: edits.dedented(lines, self.indent_width))

    def action_toggle_comment(self) -> None:
        self._change_rows(edits.toggled_comments)

    def _change_rows(self, change: Callable[[list[str]], list[str]]) -> None:
        """Change the lines of the selection as wholes, and keep the same text selected."""
        if self.read_only:
            return
        (top, _), (bottom, bottom_column) = sorted(self.selection)
        if bottom > top and bottom_column == 0:
            bottom -= 1  # nothing of the last line is selected
        old = [self.document.get_line(row) for row in range(top, bottom + 1)]
        new = change(old)
        if new == old:
            return

        def moved(location: edits.Location) -> edits.Location:
            row, column = location
            if not top <= row <= bottom:
                return location
            longer = len(new[row - top]) - len(old[row - top])
            return row, max(column + longer, 0) if column else 0

        start, end = self.selection
        self.history.checkpoint()
        self.edit(Edit("\n".join(new), (top, 0), (bottom, len(old[-1])), maintain_selection_offset=False))
        self.history.checkpoint()
        self.selection = Selection(moved(start), moved(end))
        self.record_cursor_width()


def _new_history() -> EditHistory:
    return EditHistory(max_checkpoints=500, checkpoint_timer=2.0, checkpoint_max_characters=100)


def first_caret(text: str) -> Caret:
    """Where one begins to type in a starter file: in the body of its first function."""
    lines = text.splitlines()
    row = next((number for number, line in enumerate(lines) if line.startswith("def ")), None)
    if row is None or row + 1 >= len(lines):
        return Caret()
    body = lines[row + 1]
    return Caret(row + 1, len(body) - len(body.lstrip()), 0, max(row - 2, 0))
