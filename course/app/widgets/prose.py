"""Lesson text in one widget, flowed to its width."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from course.app.prose import Block, flow


class Prose(Static):
    """Shows blocks of lesson text; select it with the mouse to copy."""

    DEFAULT_CSS = """
    Prose { height: auto; width: 1fr; }
    """

    def __init__(self, blocks: Sequence[Block] = (), *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._blocks: tuple[Block, ...] = tuple(blocks)
        self._flowed: tuple[int, Content] = (0, Content(""))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is shown."""
        return self._blocks

    def show(self, blocks: Sequence[Block]) -> None:
        """Show other blocks."""
        self._blocks = tuple(blocks)
        self._flowed = (0, Content(""))
        self.display = bool(blocks)
        self._clear_and_refresh()

    @property
    def text(self) -> str:
        """What is shown, as plain text."""
        return flow(self._blocks, self.content_size.width or 80).plain

    def _clear_and_refresh(self) -> None:
        self.update(Content(""))

    def _at(self, width: int) -> Content:
        if self._flowed[0] != width:
            self._flowed = (width, flow(self._blocks, width))
        return self._flowed[1]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._at(width).plain.count("\n") + 1 if self._blocks else 0

    def render(self) -> Content:
        return self._at(self.content_size.width)
