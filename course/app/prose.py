"""Lesson Markdown as text for one widget: parsed once into blocks, then flowed to whatever width there is.

Textual's Markdown widget makes a widget of every paragraph, which costs several times as much to show; here a whole
card is one `Content`. Understood is what lessons use: paragraphs, emphasis, code, links, lists, quotes, fences,
headings, rules and tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
from textual.content import Content

from lab.language import _

if TYPE_CHECKING:
    from markdown_it.token import Token

HEADING, STRONG, EMPHASIS = "bold $text-primary", "bold", "italic"
CODE, LINK, QUIET, BULLET = "$text-accent", "underline $text-primary", "$foreground 60%", "$text-primary"
CODE_PANEL = "on $surface"
MAX_CODE_INDENT = 4
NOTHING = Content("")


class Text(msgspec.Struct, frozen=True):
    """A paragraph, wrapped at spaces; `marker` stands before its first line and the others hang below the text."""

    content: Content
    marker: Content = NOTHING
    indent: int = 0
    after_gap: bool = True
    on_every_line: bool = False
    """Whether the marker is repeated, as a bar at the left is."""


class Code(msgspec.Struct, frozen=True):
    """Lines that aren't wrapped at spaces: a painted panel for code, a bar at the left for output."""

    code: str
    language: str = ""
    runnable: bool = False
    indent: int = 0

    @property
    def is_python(self) -> bool:
        return self.language in ("python", "py")


class Table(msgspec.Struct, frozen=True):
    """Rows of cells, the first one the heading."""

    rows: tuple[tuple[Content, ...], ...]
    right: tuple[bool, ...]
    """For each column, whether it is aligned to the right."""
    indent: int = 0


class Rule(msgspec.Struct, frozen=True):
    """A horizontal rule."""

    indent: int = 0


Block = Text | Code | Table | Rule


def runnable_code(markdown: str) -> str | None:
    """The first block of a card that can be run on the spot."""
    return next((block.code for block in parse(markdown) if isinstance(block, Code) and block.runnable), None)


@lru_cache(maxsize=128)
def parse(markdown: str) -> tuple[Block, ...]:
    """The blocks of a piece of Markdown."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    return tuple(_blocks(tokens))


def heading(text: str) -> Text:
    """A title above other blocks."""
    return Text(Content.styled(text, HEADING))


def one_line(markdown: str) -> Content:
    """A sentence or two of Markdown, as a piece of one paragraph."""
    return Content(" ").join(block.content for block in parse(markdown) if isinstance(block, Text))


def flow(blocks: Sequence[Block], width: int) -> Content:
    """The blocks as lines no wider than `width`."""
    lines: list[Content] = []
    for number, block in enumerate(blocks):
        if number and _gap(blocks[number - 1], block):
            lines.append(Content(""))
        room = max(width - block.indent, 8)
        pad = Content(" " * block.indent)
        lines.extend(pad + line if block.indent else line for line in _lines(block, room))
    return Content("\n").join(lines)


def _gap(before: Block, block: Block) -> bool:
    """Whether a blank line stands between two blocks; a code panel's own edge is gap enough."""
    if isinstance(block, Text) and not block.after_gap:
        return False
    return not any(isinstance(each, Code) and each.is_python for each in (before, block))


def _lines(block: Block, width: int) -> Iterable[Content]:
    match block:
        case Text(content, marker, on_every_line=on_every_line):
            hang = marker.cell_length
            wrapped = content.wrap(max(width - hang, 8)) or [Content("")]
            return [
                (marker if number == 0 or on_every_line else Content(" " * hang)) + line
                for number, line in enumerate(wrapped)
            ]
        case Code():
            return _code_lines(block, width)
        case Table():
            return _table_lines(block, width)
        case Rule():
            return [Content.styled("─" * width, QUIET)]


def _code_lines(block: Code, width: int) -> Iterable[Content]:
    if not block.is_python:
        for line in block.code.splitlines():
            for part in Content(line).fold(width - 2):
                yield Content.assemble(("│ ", QUIET), part.stylize(QUIET))
        return
    if block.runnable:
        label = _(" F5 runs this ")
        yield Content.assemble(
            ("▁" * (width - Content(label).cell_length), "$surface"), (label, "$text-accent on $surface")
        )
    else:
        yield Content.styled("▁" * width, "$surface")
    for row in highlighted(block.code).split("\n", allow_blank=True):
        for part in row.fold(width - 2):
            yield part.pad_left(1).pad_right(width - 1 - part.cell_length).stylize_before(CODE_PANEL)
    yield Content.styled("▔" * width, "$surface")


@lru_cache(maxsize=128)
def highlighted(code: str) -> Content:
    """Python in the colours of the theme."""
    from course.app.syntax import highlighted_as_cards_are

    return highlighted_as_cards_are(code.rstrip("\n"))


def _table_lines(block: Table, width: int) -> Iterable[Content]:
    columns = len(block.right)
    natural = [max(row[i].cell_length for row in block.rows) for i in range(columns)]
    widths, gaps = list(natural), 2 * (columns - 1)
    while sum(widths) + gaps > width and max(widths) > 6:
        widths[widths.index(max(widths))] -= 1
    for number, row in enumerate(block.rows):
        cells = [cell.wrap(widths[i]) or [Content("")] for i, cell in enumerate(row)]
        for line in range(max(map(len, cells))):
            parts = []
            for i, cell in enumerate(cells):
                part = cell[line] if line < len(cell) else Content("")
                space = max(widths[i] - part.cell_length, 0)
                parts.append(part.pad_left(space) if block.right[i] else part.pad_right(space))
            joined = Content("  ").join(parts)
            yield joined.stylize("bold") if number == 0 else joined
        if number == 0:
            yield Content.styled("  ".join("─" * each for each in widths), QUIET)


def _blocks(tokens: list[Token]) -> Iterable[Block]:
    """Walk the token stream; lists and quotes only add to the indent and to the marker of the next paragraph."""
    lists: list[int | None] = []  # the next number of each open list, None for bullets
    marker = Content("")
    tight = quoted = False
    position = 0
    while position < len(tokens):
        token = tokens[position]
        indent = sum(2 if number is None else 3 for number in lists)
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open"):
            tight = tight and bool(lists)
            lists.append(int(token.attrGet("start") or 1) if kind == "ordered_list_open" else None)
        elif kind in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
            tight = tight and bool(lists)
        elif kind == "list_item_open":
            number = lists[-1]
            marker = Content.styled("• " if number is None else f"{number}.".ljust(3), BULLET)
            lists[-1] = None if number is None else number + 1
        elif kind == "blockquote_open":
            marker, quoted = Content.styled("▎ ", BULLET), True
        elif kind in ("paragraph_open", "heading_open"):
            content = _inline(tokens[position + 1].children or [])
            if kind == "heading_open":
                content = content.stylize_before(HEADING)
            hang = marker.cell_length
            yield Text(content, marker, max(indent - hang, 0) if hang else indent, not tight, quoted)
            quoted = False
            tight = token.hidden
            marker = Content("")
            position += 2
        elif kind in ("fence", "code_block"):
            language, *flags = token.info.split() or [""]
            yield Code(token.content.rstrip("\n"), language, "run" in flags, min(indent, MAX_CODE_INDENT))
            tight = False
        elif kind == "hr":
            yield Rule(indent)
        elif kind == "table_open":
            end = next(i for i in range(position, len(tokens)) if tokens[i].type == "table_close")
            yield _table(tokens[position:end], indent)
            position = end
        position += 1


def _table(tokens: list[Token], indent: int) -> Table:
    rows: list[list[Content]] = []
    right: list[bool] = []
    for number, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            rows[-1].append(_inline(tokens[number + 1].children or []))
            if token.type == "th_open":
                right.append("right" in str(token.attrGet("style") or ""))
    return Table(tuple(map(tuple, rows)), tuple(right), indent)


_INLINE = {"strong_open": STRONG, "em_open": EMPHASIS, "link_open": LINK, "s_open": "strike"}


def _inline(tokens: list[Token]) -> Content:
    parts: list[Content | tuple[str, str]] = []
    styles: list[str] = []
    for token in tokens:
        if token.type in _INLINE:
            styles.append(_INLINE[token.type])
        elif token.type.endswith("_close"):
            styles.pop()
        elif token.type == "code_inline":
            parts.append((token.content, " ".join([*styles, CODE])))
        elif token.type == "softbreak":
            parts.append((" ", ""))
        elif token.type == "hardbreak":
            parts.append(("\n", ""))
        else:
            parts.append((token.content, " ".join(styles)))
    return Content.assemble(*parts)
