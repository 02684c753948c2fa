"""Draws Python quickly: only lines that changed are drawn again, with brackets, matches and messages at their line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip
from textual.widgets._text_area import build_byte_to_codepoint_dict

from course.app.edits import CLOSING, OPENING, Location, partner, unchanged_ends
from course.app.widgets.late_syntax import LateSyntax

Highlight = tuple[int, "int | None", str]
Match = tuple[int, int, int]

STRETCH = 32
"""Lines that are highlighted together."""
MARK = "✗"
MESSAGE_GAP = 2
LEAST_MESSAGE = 12
"""Columns without which a message isn't shown beside its line."""


class Highlights(dict[int, list[Highlight]]):
    """The highlights of each line, looked up when a line near is drawn: most of a file isn't seen."""

    def __init__(self, look_up: Callable[[int, int], Mapping[int, list[Highlight]]]) -> None:
        super().__init__()
        self._look_up = look_up

    def __missing__(self, row: int) -> list[Highlight]:
        first = row - row % STRETCH
        for each in range(first, first + STRETCH):
            self[each] = []
        for each, highlights in self._look_up(first, first + STRETCH).items():
            self[each] = highlights
        return self[row]


class CodeArea(LateSyntax):
    """A TextArea that never wraps. Marked lines keep their mark until they are changed."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "code-area--bracket",
        "code-area--match",
        "code-area--mark",
        "code-area--message",
    }
    DEFAULT_CSS = """
    CodeArea {
        & .code-area--bracket { color: $text-accent; text-style: bold underline; }
        & .code-area--match { background: $warning 30%; text-style: underline; }
        &:ansi .code-area--match { background: transparent; text-style: bold underline; }
        & .code-area--mark { color: $text-error; text-style: bold; }
        & .code-area--message { color: $text-error; text-style: italic; }
    }
    """

    _marks: Mapping[int, str] = {}
    _matches: Sequence[Match] = ()
    _marked_lines: Sequence[str] = ()
    _brackets: tuple[Location, ...] = ()
    _brackets_of: tuple[Location, int] | None = None
    _edits = 0

    # Marks and matches

    @property
    def marks(self) -> Mapping[int, str]:
        """What is wrong with a line, by its row."""
        return self._marks

    @marks.setter
    def marks(self, marks: Mapping[int, str]) -> None:
        self._marks = {row: message for row, message in marks.items() if 0 <= row < self.document.line_count}
        self._marked_lines = list(self.document.lines) if marks else ()
        self.refresh()

    @property
    def matches(self) -> Sequence[Match]:
        """What a search has found."""
        return self._matches

    @matches.setter
    def matches(self, matches: Sequence[Match]) -> None:
        self._matches = matches
        self.refresh()

    def _build_highlight_map(self) -> None:
        # Called at every change of the text, whoever makes it.
        self._edits += 1
        self._highlights = Highlights(self._highlights_between)
        if self._marks:
            self._move_marks()

    def _move_marks(self) -> None:
        """A mark goes with its line; one whose line was changed is taken away."""
        old, new = self._marked_lines, self.document.lines
        first, last = unchanged_ends(old, new)
        moved = {}
        for row, message in self._marks.items():
            if row < first:
                moved[row] = message
            elif row >= len(old) - last:
                moved[row + len(new) - len(old)] = message
        self._marks, self._marked_lines = moved, list(new)

    def _highlights_between(self, first: int, end: int) -> Mapping[int, list[Highlight]]:
        rows: dict[int, list[Highlight]] = {}
        if not self._highlight_query:
            return rows
        captures = self.document.query_syntax_tree(self._highlight_query, (first, 0), (end, 0))
        for name, nodes in captures.items():
            for node in nodes:
                (top, left), (bottom, right) = node.start_point, node.end_point
                for row in range(max(top, first), min(bottom + 1, end)):
                    start, stop = left if row == top else 0, right if row == bottom else None
                    rows.setdefault(row, []).append((start, stop, name))
        return rows

    def _recompute_cursor_offset(self) -> None:
        # While a long paste is undone, the scroll bar goes before the caret has moved to where there is still text.
        self._cursor_offset = self.wrapped_document.location_to_offset(self.clamp_visitable(self.cursor_location))

    # Brackets

    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        """Found when it is drawn; see `_look_for_brackets`."""
        return None

    @property
    def brackets(self) -> tuple[Location, ...]:
        """The bracket at the caret, or else the one before it, with its partner."""
        now = (self.cursor_location, self._edits)
        if now != self._brackets_of:
            self._brackets_of, self._brackets = now, self._look_for_brackets()
        return self._brackets

    def _look_for_brackets(self) -> tuple[Location, ...]:
        row, column = self.cursor_location
        line = self.document.get_line(row)
        for at in (column, column - 1):
            if 0 <= at < len(line) and (line[at] in OPENING or line[at] in CLOSING) and self._is_code((row, at)):
                other = partner(self.document.lines, (row, at), self._is_code)
                if other is not None:
                    return (row, at), other
        return ()

    def _is_code(self, at: Location) -> bool:
        tree: Any = getattr(self.document, "_syntax_tree", None)
        if tree is None:
            return True
        row, column = at
        line = self.document.get_line(row)
        point = (row, column if line.isascii() else len(line[:column].encode()))
        return bool(tree.root_node.descendant_for_point_range(point, (row, point[1] + 1)).type == line[column])

    # Drawing

    def render_line(self, y: int) -> Strip:
        theme = self._theme
        scroll_x, scroll_y = self.scroll_offset
        row, width = y + scroll_y, self.size.width
        base = theme.base_style or self.rich_style
        if row >= self.document.line_count:
            return Strip.blank(width, base)
        line = self.document.get_line(row)
        (top, left), (bottom, right) = sorted(self.selection)
        selected = None
        if top <= row <= bottom and self.selection.start != self.selection.end:
            selected = (left if row == top else 0, right if row == bottom else len(line))
        caret_row, caret = self.cursor_location
        brackets = self.brackets if self._has_cursor and selected is None else ()
        key = (
            row,
            line,
            tuple(self._highlights[row]),
            row == caret_row and self._has_cursor and self.highlight_cursor_line,
            caret if row == caret_row and self._draw_cursor else None,
            selected,
            tuple(at for each, at in brackets if each == row),
            tuple(match[1:] for match in self._matches if match[0] == row and match[1:] != selected),
            self._marks.get(row),
            scroll_x,
            width,
            self.gutter_width,
            self.theme,
            self.read_only,
        )
        strip = self._line_cache.get(key)
        if strip is None:
            strip = self._line_cache[key] = self._draw(*key[:9]).apply_style(base)
        return strip

    def _draw(
        self,
        row: int,
        line: str,
        highlights: Iterable[Highlight],
        is_caret_line: bool,
        caret: int | None,
        selected: tuple[int, int] | None,
        brackets: Iterable[int],
        matches: Iterable[tuple[int, int]],
        mark: str | None,
    ) -> Strip:
        theme, style = self._theme, self.get_component_rich_style
        text = Text(line + " ", end="", no_wrap=True)
        line_style = theme.cursor_line_style if is_caret_line else None
        if line_style:
            text.stylize(line_style)
        for start, end in matches:
            text.stylize(style("code-area--match"), start, end)
        if selected is not None and theme.selection_style:
            start, end = selected
            text.stylize(theme.selection_style, start, max(end, start + 1 if not line else end))
        columns = build_byte_to_codepoint_dict(line.encode()) if not line.isascii() else None
        for start, stop, name in highlights:
            if (highlight := theme.syntax_styles.get(name)) is not None:
                if columns is not None:
                    start, stop = columns.get(start, 0), columns.get(stop) if stop else None
                text.stylize(highlight, start, stop)
        for column in brackets:
            text.stylize(style("code-area--bracket"), column, column + 1)
        if caret is not None and theme.cursor_style:
            text.stylize(theme.cursor_style, caret, caret + 1)
        text.expand_tabs(self.indent_width)
        width = self.size.width - self.gutter_width
        scroll_x = self.scroll_offset.x
        shown = Strip(text.render(self.app.console), cell_length=text.cell_len).crop(scroll_x, scroll_x + width)
        if mark is not None and (room := width - shown.cell_length - MESSAGE_GAP) >= LEAST_MESSAGE:
            shown = Strip.join([shown, self._message(mark, room, line_style)])
        gutter = (theme.cursor_line_gutter_style if is_caret_line else theme.gutter_style) or Style()
        number = str(row + self.line_number_start).rjust(self.gutter_width - 2)
        sign = Segment(" ", gutter) if mark is None else Segment(MARK, gutter + style("code-area--mark"))
        margin = Strip([Segment(number, gutter), sign, Segment(" ", gutter)])
        return Strip.join([margin, shown.extend_cell_length(width, line_style)])

    def _message(self, message: str, room: int, line_style: Any) -> Strip:
        text = Text(" " * MESSAGE_GAP + message.partition("\n")[0], end="", no_wrap=True)
        text.truncate(room, overflow="ellipsis")
        style = self.get_component_rich_style("code-area--message")
        text.stylize(line_style + style if line_style else style)
        return Strip(text.render(self.app.console), cell_length=text.cell_len)
