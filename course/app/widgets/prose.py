"""Lesson text in one widget, flowed to its width."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from course.app.prose import Block, flow

FOUND = "bold underline $text-accent"


class Prose(Static):
    """Shows blocks of lesson text; select it with the mouse to copy."""

    DEFAULT_CSS = """
    Prose { height: auto; width: 1fr; }
    """

    def __init__(self, blocks: Sequence[Block] = (), *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._blocks: tuple[Block, ...] = tuple(blocks)
        self._flowed: tuple[int, Content] = (0, Content(""))
        self._marked: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is shown."""
        return self._blocks

    def show(self, blocks: Sequence[Block]) -> None:
        """Show other blocks."""
        self._blocks = tuple(blocks)
        self._marked = ()
        self._flowed = (0, Content(""))
        self.display = bool(blocks)
        self._clear_and_refresh()

    def mark(self, words: Sequence[str]) -> None:
        """Mark the words wherever they stand, until something else is shown."""
        self._marked = tuple(words)
        self._flowed = (0, Content(""))
        self._clear_and_refresh()

    def row_of(self, words: Sequence[str]) -> int | None:
        """The row with the most of the words, None where there is none of them."""
        from course.search import fold

        rows = [sum(word in fold(row) for word in words) for row in self.text.split("\n")]
        return rows.index(max(rows)) if max(rows, default=0) else None

    @property
    def text(self) -> str:
        """What is shown, as plain text."""
        return flow(self._blocks, self.content_size.width or 80).plain

    @property
    def rows_of_first(self) -> int:
        """How many rows the first block takes."""
        return flow(self._blocks[:1], self.content_size.width or 80).plain.count("\n") + 1

    def _clear_and_refresh(self) -> None:
        self.update(Content(""))

    def _at(self, width: int) -> Content:
        if self._flowed[0] != width:
            self._flowed = (width, marked(flow(self._blocks, width), self._marked))
        return self._flowed[1]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._at(width).plain.count("\n") + 1 if self._blocks else 0

    def render(self) -> Content:
        return self._at(self.content_size.width)


def marked(content: Content, words: Sequence[str]) -> Content:
    """Text with the words marked in it, as they are found by the search."""
    if words:
        from course.search import marks

        for start, end in marks(content.plain, words):
            content = content.stylize(FOUND, start, end)
    return content
