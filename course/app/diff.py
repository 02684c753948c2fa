"""A comparison of two programs as lines to show: side by side where there is room, else one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from textual.content import Content

from course.app.prose import QUIET, highlighted
from course.compare import Fold, Line, Row
from lab.language import ngettext

SIDE_BY_SIDE = 94
"""The fewest columns for two versions beside each other: a terminal of 100 less margins and scroll bar."""
MINE, THEIRS = "on $error 14%", "on $success 14%"
WORD = "bold underline"
MARGIN = 2


@dataclass(frozen=True)
class Shown:
    """What is shown, and the rows in which a change begins."""

    text: Content
    changes: tuple[int, ...]


def show(rows: Sequence[Row | Fold], mine: str, theirs: str, width: int, *, painted: bool) -> Shown:
    """The comparison at this width; without paint, only signs and underlines tell what differs."""
    ours, solution = _coloured(mine), _coloured(theirs)
    lines: list[Content] = []
    changes: list[int] = []
    in_change = False
    draw = _beside if width >= SIDE_BY_SIDE else _below
    for kind, group in _grouped(rows):
        if kind and not in_change:
            changes.append(len(lines))
        in_change = kind
        lines.extend(draw(group, ours, solution, width, painted))
    return Shown(Content("\n").join(lines), tuple(changes))


def _grouped(rows: Sequence[Row | Fold]) -> Iterator[tuple[bool, list[Row | Fold]]]:
    """Stretches of what differs, and of what doesn't."""
    group: list[Row | Fold] = []
    for row in rows:
        if group and _differs(group[-1]) != _differs(row):
            yield _differs(group[-1]), group
            group = []
        group.append(row)
    if group:
        yield _differs(group[-1]), group


def _differs(row: Row | Fold) -> bool:
    return isinstance(row, Row) and row.kind != "same"


def _coloured(code: str) -> list[Content]:
    """Each line of a program in its colours."""
    return list(highlighted(code.expandtabs(4).rstrip()).split("\n", allow_blank=True))


def _beside(
    rows: Sequence[Row | Fold], ours: list[Content], solution: list[Content], width: int, painted: bool
) -> Iterator[Content]:
    half = (width - 1) // 2
    for left, right, fold in _pairs(rows):
        if fold is not None:
            yield _fold(fold, width)
            continue
        same = left is not None and right is not None and left.text == right.text
        one = _cell(left, ours, " " if same else "-", half, MINE if painted and not same else "")
        other = _cell(right, solution, " " if same else "+", half, THEIRS if painted and not same else "")
        for cell, beside in zip_longest(one, other, fillvalue=Content(" " * half)):
            yield Content.assemble(cell, ("│", QUIET), beside)


def _pairs(rows: Sequence[Row | Fold]) -> Iterator[tuple[Line | None, Line | None, Fold | None]]:
    """What stands beside each other; lines of either side that aren't alike share their rows."""
    lefts, rights = list[Line](), list[Line]()
    for row in (*rows, None):
        if isinstance(row, Row) and row.kind in ("left", "right"):
            lefts.extend(filter(None, [row.left]))
            rights.extend(filter(None, [row.right]))
            continue
        yield from ((left, right, None) for left, right in zip_longest(lefts, rights))
        lefts, rights = [], []
        if isinstance(row, Fold):
            yield None, None, row
        elif row is not None:
            yield row.left, row.right, None


def _below(
    rows: Sequence[Row | Fold], ours: list[Content], solution: list[Content], width: int, painted: bool
) -> Iterator[Content]:
    """What is to be changed first, then what stands in its place."""
    if rows and _differs(rows[0]):
        changed = [row for row in rows if isinstance(row, Row)]
        for each in changed:
            yield from _cell(each.left, ours, "-", width, MINE if painted else "")
        for each in changed:
            yield from _cell(each.right, solution, "+", width, THEIRS if painted else "")
        return
    for row in rows:
        if isinstance(row, Fold):
            yield _fold(row, width)
        else:
            yield from _cell(row.left, ours, " ", width, "")


def _cell(line: Line | None, coloured: list[Content], sign: str, width: int, paint: str) -> list[Content]:
    """A line of one side, folded to the width."""
    if line is None:
        return []
    text = coloured[line.number][: len(line.text)]
    for start, end in line.words:
        text = text.stylize(WORD, start, end)
    parts = text.fold(width - MARGIN) if line.text else [Content("")]
    cells = []
    for number, part in enumerate(parts):
        first = number == 0  # what follows is the rest of a line that is wider than its place
        mark = Content.styled(f"{sign} ", "bold" if sign != " " else "") if first else Content.styled("… ", QUIET)
        cell = mark + part.pad_right(max(width - MARGIN - part.cell_length, 0))
        cells.append(cell.stylize_before(paint) if paint else cell)
    return cells


def _fold(fold: Fold, width: int) -> Content:
    words = ngettext("⋯ {n} equal line", "⋯ {n} equal lines", fold.lines)
    return Content.styled(words.ljust(width), QUIET)
