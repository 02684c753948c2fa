"""How much room a lesson's text takes on a small terminal, told without drawing it."""

from __future__ import annotations

import re
import textwrap
from itertools import pairwise

from grader.lesson_files import unwrap

TEXT_COLUMNS = 74  # an 80-column terminal less margins and scroll bar
FENCED_COLUMNS = 72  # TEXT_COLUMNS less the bar and the gap at the left of an output, or the edges of a panel
PANEL_LINES = 2  # a panel of code has a line above and one below
CARD_LINES = 18  # 24 lines less header, the margin above, the title with the line below it, buttons and footer
BRIEF_LINES = 12  # the same, less the lines that stand below a brief: the points, the keys, the hint that is left


def height(markdown: str) -> int:
    """Lines that a text takes at TEXT_COLUMNS, with one empty line between blocks; a panel's edge is gap enough."""
    found = _blocks(markdown)
    gaps = sum(not any(block[0].startswith("```python") for block in pair) for pair in pairwise(found))
    return sum(map(_block_height, found)) + gaps


def too_wide(markdown: str) -> list[str]:
    """The lines of code, output and drawings that would be folded; predictions are prose."""
    fenced = (block for block in _blocks(markdown) if block[0].startswith("```") and block[0] != "```predict")
    return [line for block in fenced for line in block if len(line) > FENCED_COLUMNS]


def _blocks(markdown: str) -> list[list[str]]:
    """The paragraphs, lists, tables and fenced blocks, each as its lines."""
    found: list[list[str]] = [[]]
    fenced = False
    for line in markdown.strip().splitlines():
        if not line and not fenced:
            found.append([])
        else:
            found[-1].append(line)
        fenced ^= line.startswith("```")
    return [block for block in found if block]


def _block_height(lines: list[str]) -> int:
    if lines[0].startswith("```"):
        return len(lines) - 2 + PANEL_LINES * lines[0].startswith("```python")
    if lines[0].startswith("|"):
        return len(lines)
    items = re.split(r"\n(?=- |\d+\. )", "\n".join(lines))
    return sum(len(textwrap.wrap(unwrap(item), TEXT_COLUMNS)) for item in items)
