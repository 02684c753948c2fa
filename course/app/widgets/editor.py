"""The code editor of an exercise."""

from __future__ import annotations

from time import monotonic

from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from course.app.syntax import editor_theme
from course.app.widgets.late_syntax import LateSyntax
from course.progress import Caret

AUTOSAVE_S = 0.5  # after the last change
AUTOSAVE_AT_LEAST_EVERY_S = 2.0  # while changes go on


class Editor(LateSyntax, inherit_bindings=False):
    """Python, with Tab to indent and Escape to leave."""

    # F6 and F7 check and give a hint here.
    BINDINGS = [  # noqa: RUF012
        *(binding for binding in TextArea.BINDINGS if isinstance(binding, Binding) and binding.key not in ("f6", "f7")),
        Binding("ctrl+home", "document_start", "To the first line", show=False, id="editor.start"),
        Binding("ctrl+end", "document_end", "To the last line", show=False, id="editor.end"),
    ]

    class Settled(Message):
        """Nothing was typed for half a second, or changes go on for long, or the focus was lost: time to save."""

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
            max_checkpoints=500,
        )
        self._pause: Timer | None = None
        self._changed_since_s = 0.0
        self._wanted: Caret | None = None

    def on_mount(self) -> None:
        self.watch(self.app, "theme", self._follow_theme)

    def _follow_theme(self) -> None:
        name = f"course-{self.app.theme}"
        self.register_theme(editor_theme(name, self.app.theme_variables))
        self.theme = name

    def load(self, text: str, caret: Caret | None = None) -> None:
        """Show another text, with the caret and scrolled as it says; at the beginning without it."""
        self.load_text(text)
        caret = caret or Caret()
        self.move_cursor((caret.row, caret.column))
        self._wanted = caret
        self._scroll_as_wanted()

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

    def on_text_area_changed(self) -> None:
        # A timer that has run once can't be started again, so that each change begins a new one.
        now_s = monotonic()
        if self._pause is not None:
            self._pause.stop()
        else:
            self._changed_since_s = now_s
        if now_s - self._changed_since_s >= AUTOSAVE_AT_LEAST_EVERY_S:
            self._settle()
            return
        self._pause = self.set_timer(AUTOSAVE_S, self._settle)

    def on_blur(self) -> None:
        self._settle()

    def _settle(self) -> None:
        if self._pause is not None:
            self._pause.stop()
            self._pause = None
        self.post_message(self.Settled())

    def action_document_start(self) -> None:
        self.move_cursor((0, 0))

    def action_document_end(self) -> None:
        self.move_cursor(self.document.end)

    def on_key(self, event: events.Key) -> None:
        # TextArea's own handling of a key comes after this, unless the default is prevented.
        if event.key == "escape":
            # It would go to the next widget; here it is for the screen to say what escape does.
            event.prevent_default()
        elif event.key == "space" and event.character is None:
            # Some terminals, VS Code's among them, report space as a code without text.
            self._type(event, " ")
        elif event.key == "enter":
            self._type(event, "\n" + self._indent_of_next_line())

    def _type(self, event: events.Key, text: str) -> None:
        event.stop()
        event.prevent_default()
        if not self.read_only:
            self._replace_via_keyboard(text, *self.selection)

    def _indent_of_next_line(self) -> str:
        """The indent of this line, one level more after a colon."""
        row, column = min(self.selection)
        before = self.document.get_line(row)[:column]
        indent = before[: len(before) - len(before.lstrip())]
        return indent + (" " * self.indent_width if before.rstrip().endswith(":") else "")


def first_caret(text: str) -> Caret:
    """Where one begins to type in a starter file: in the body of its first function."""
    lines = text.splitlines()
    row = next((number for number, line in enumerate(lines) if line.startswith("def ")), None)
    if row is None or row + 1 >= len(lines):
        return Caret()
    body = lines[row + 1]
    return Caret(row + 1, len(body) - len(body.lstrip()), 0, max(row - 2, 0))
