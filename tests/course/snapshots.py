"""Pictures of the screens as text: what stands where, and in which colours, in a page that can be read and compared.

Below the drawn lines stands, for each line, its styles: a letter for each cell, and what each letter stands for. So a
picture needs no browser to be looked at, differs where the screen differs, and holds nothing that changes by itself.
"""

from __future__ import annotations

import string
from collections.abc import Sequence

from rich.style import Style
from textual.strip import Strip

LETTERS = string.ascii_lowercase + string.ascii_uppercase + string.digits


def picture(strips: Sequence[Strip]) -> str:
    """The strips of a screen as text."""
    names: dict[str, str] = {}
    drawn: list[str] = []
    styles: list[str] = []
    for strip in strips:
        drawn.append(strip.text.rstrip())
        cells = []
        for segment in strip:
            style = described(segment.style)
            name = names.setdefault(style, LETTERS[len(names) % len(LETTERS)])
            cells.append(name * segment.cell_length)
        styles.append(shortened("".join(cells)))
    legend = [f"{name} {style}" for style, name in names.items()]
    return "\n".join([*drawn, "-- styles", *styles, "-- legend", *legend, ""])


def shortened(cells: str) -> str:
    """Runs of a letter as its number and the letter: `12a3b`."""
    parts: list[str] = []
    at = 0
    while at < len(cells):
        end = at
        while end < len(cells) and cells[end] == cells[at]:
            end += 1
        parts.append(f"{end - at}{cells[at]}")
        at = end
    return " ".join(parts)


def described(style: Style | None) -> str:
    """A style without the links in it, which are numbered anew each time."""
    if style is None:
        return "none"
    words = [word for word in ("bold", "dim", "italic", "underline", "strike", "reverse") if getattr(style, word)]
    text = style.color.name if style.color else "default"
    ground = style.bgcolor.name if style.bgcolor else "default"
    return " ".join([*words, text, "on", ground])
