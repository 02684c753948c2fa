"""The chosen line of a list is shown in reverse where colours can't tell: Textual forgets that part of the style."""

from __future__ import annotations

from typing import Any

from textual.style import Style
from textual.widgets import OptionList

_without_reverse = OptionList.get_visual_style


def keep_reverse() -> None:
    """Let `text-style: reverse` hold for the lines of each list, the command palette's too."""
    OptionList.get_visual_style = _with_reverse  # type: ignore[assignment]


def _with_reverse(options: Any, *component_classes: str, partial: bool = False) -> Style:
    style = _without_reverse(options, *component_classes, partial=partial)
    if any(options.get_component_styles(name).text_style.reverse for name in component_classes):
        style += Style(reverse=True)
    return style
