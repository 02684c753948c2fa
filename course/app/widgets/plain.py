"""Containers that are drawn as the one blank line that they are.

Textual renders every line of a container, also where widgets cover it: for the screen of an exercise that was a third
of what a frame costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    _Base = Widget
else:
    _Base = object


class Plain(_Base):
    """The part of a container, or of a screen, that draws it."""

    def render_lines(self, crop: Region) -> list[Strip]:
        if any(self.gutter) or self.styles.outline:
            return super().render_lines(crop)
        background = self.background_colors[1]
        line = Strip.blank(crop.width, Style(bgcolor=background.rich_color))
        for line_filter in self.app._filters:
            line = line.apply_filter(line_filter, background)
        return [line] * crop.height


class PlainHorizontal(Plain, Horizontal):
    """Widgets side by side."""


class PlainVertical(Plain, Vertical):
    """Widgets below one another."""
