"""The rows of the timeline as characters with the names of their styles."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from course.lanes import GPU_KINDS, HOST_KINDS, Column, RunView, most_allocated
from course.run_tables import in_ms
from lab.language import _, localised

GUTTER = 6
"""Columns for the names of the lanes."""
HOST_GLYPHS = {
    "launch": "█",
    "data": "░",
    "forward": "»",
    "backward": "«",
    "optimizer": "▚",
    "copy": "↑",
    "alloc": "±",
    "wait": "▒",
    "read": "◆",
    "code": "·",
}
"""How each kind is drawn: told apart without colours, too."""
BARS = " ▁▂▃▄▅▆▇█"
IDLE, COPY, PART_COPY, TALK, MARK, UNTIL, CURSOR = "·", "▒", "░", "▞", "▾", "╌", "┃"
STYLES = (*HOST_KINDS, *GPU_KINDS, "gap", "memory", "axis", "name", "cursor")
"""The names of the styles that the rows are drawn in."""

Cell = tuple[str, str]
"""A character and the name of its style."""


def flow(words: list[tuple[str, str]], width: int) -> list[list[tuple[str, str]]]:
    """The words in as many lines as they need."""
    lines: list[list[tuple[str, str]]] = []
    left = 0
    for text, style in words:
        if not lines or len(text) > left:
            lines.append([])
            left = width
        lines[-1].append((text, style))
        left -= len(text) + 2
    return lines


def strip(name: str, cells: list[Cell], kinds: Mapping[str, Style], cursor: int) -> Strip:
    """A row of the timeline; where it is empty, the cursor shows through."""
    around = "".join(char for char, _style in cells[max(cursor - 1, 0) : cursor + 2])
    if 0 <= cursor < len(cells) and cells[cursor][0] in f" {IDLE}" and not any(char.isalnum() for char in around):
        cells[cursor] = (CURSOR, "cursor")
    segments = [Segment(f"{name:<{GUTTER}}", kinds["name"])]
    begin = 0
    for end in range(1, len(cells) + 1):
        if end == len(cells) or cells[end][1] != cells[begin][1]:
            segments.append(Segment("".join(char for char, _style in cells[begin:end]), kinds[cells[begin][1]]))
            begin = end
    return Strip(segments)


def _write(cells: list[Cell], column: int, text: str, style: str) -> None:
    for number, char in enumerate(text, column):
        if 0 <= number < len(cells):
            cells[number] = (char, style)


def tick_s(window_s: float, most: int) -> float:
    """The distance of the ticks on an axis with at most so many: 1, 2 or 5 times a power of ten."""
    least = window_s / max(most, 1)
    power = 10.0 ** math.floor(math.log10(least))
    return next((step * power for step in (1, 2, 5) if step * power >= least * (1 - 1e-9)), 10 * power)


def axis(width: int, begin_s: float, end_s: float, cursor: int) -> list[Cell]:
    cells = [("─", "axis")] * width
    step_s = tick_s(end_s - begin_s, width // 14)
    digits = max(-math.floor(math.log10(step_s * 1e3) + 1e-9), 0)
    column_s = (end_s - begin_s) / width
    for number in range(math.ceil(begin_s / step_s - 1e-9), math.floor(end_s / step_s + 1e-9) + 1):
        column = math.floor((number * step_s - begin_s) / column_s + 1e-9)
        label = f"┬{localised(f'{number * step_s * 1e3:.{digits}f}')} ms"
        if column < width:
            _write(cells, column, label if column + len(label) <= width else "┬", "axis")
    if 0 <= cursor < width and cells[cursor][0] in "─┬":
        cells[cursor] = ("▼", "cursor")
    return cells


def marks(run: RunView, width: int, begin_s: float, column_s: float) -> list[Cell]:
    """The program's labels and clock reads, as far as there is room; labels come first. A line shows how long they are.

    Of several marks in one column the first is shown, so that the cost is that of the columns and not of the marks.
    """
    cells = [(" ", "axis")] * width
    for kinds in (("label", "profiler"), ("clock",)):
        found = []
        for kind in kinds:
            moments, of_kind = run.marks_of.get(kind, ([], []))
            at = bisect_left(moments, begin_s)
            for column in range(width):
                until = bisect_left(moments, begin_s + (column + 1) * column_s, lo=at)
                if until > at:
                    found.append((column, of_kind[at]))
                at = until
        for column, mark in sorted(found):
            if cells[column][0] not in (" ", UNTIL):
                continue
            text = f"{MARK}{_(mark.name)}"
            room = next((n for n in range(column, width) if cells[n][0] not in (" ", UNTIL)), width) - column
            style = "optimizer" if mark.kind == "clock" else "data"
            if mark.until_s > mark.at_s:
                end = min(math.ceil((mark.until_s - begin_s) / column_s), width)
                _write(cells, column, UNTIL * min(end - column, room), style)
            _write(cells, column, text if len(text) < room else MARK, style)
    return cells


def host_row(lane: list[Column]) -> list[Cell]:
    return [(HOST_GLYPHS[column.kind], column.kind) if column.kind else (" ", "axis") for column in lane]


def names(run: RunView, width: int, begin_s: float, column_s: float) -> list[Cell]:
    """The names of what takes long enough to have its name below it."""
    cells = [(" ", "axis")] * width
    for span in run.host_lane.wide(begin_s, column_s, width):
        first = max(math.ceil((span.begin_s - begin_s) / column_s), 0)
        room = min(math.floor((span.end_s - begin_s) / column_s), width) - first
        for text in (f"{_(span.name)} {in_ms(span.duration_s)}", _(span.name)):
            if len(text) < room:
                _write(cells, first, text, span.kind)
                break
    return cells


def gpu_rows(lane: list[Column]) -> tuple[list[Cell], list[Cell]]:
    """A lane of the GPU: bars of sixteen levels over two rows."""
    upper: list[Cell] = []
    lower: list[Cell] = []
    for kind, share in lane:
        level = math.ceil(share * 16 - 1e-6)
        if not kind or not level:
            upper.append((" ", "axis"))
            lower.append((IDLE, "gap"))
        elif kind == "memcpy":
            upper.append((COPY if level > 12 else PART_COPY, kind) if level > 8 else (" ", "axis"))
            lower.append((COPY if level > 4 else PART_COPY, kind))
        elif kind == "collective":
            upper.append((TALK, kind) if level > 8 else (" ", "axis"))
            lower.append((TALK, kind))
        else:
            upper.append((BARS[max(level - 8, 0)], kind))
            lower.append((BARS[min(level, 8)], kind))
    return upper, lower


def gap_row(run: RunView, width: int, begin_s: float, column_s: float) -> list[Cell]:
    """Brackets below the gaps, with what the GPU waited for where there is room."""
    cells = [(" ", "gap")] * width
    for gap in run.gap_lane.wide(begin_s, column_s, width):
        first = max(round((gap.begin_s - begin_s) / column_s), 0)
        end = min(round((gap.end_s - begin_s) / column_s), width)
        room = end - first - 2
        if room < 0:
            continue
        words = (_("{name}: {detail}", name=in_ms(gap.duration_s), detail=gap.words), in_ms(gap.duration_s), "")
        text = next(text for text in words if len(text) <= room)
        _write(cells, first, f"└{text.center(room, '─')}┘", "gap")
    return cells


def memory_row(run: RunView, width: int, begin_s: float, end_s: float, most_bytes: int) -> list[Cell]:
    """The memory as bars; so much is full height."""
    sizes = most_allocated(run.memory_sizes, begin_s, end_s, width)
    after_all = max(run.window_s, run.memory[-1].at_s) if run.memory else 0.0
    column_s = (end_s - begin_s) / width
    return [
        (BARS[math.ceil(size / max(most_bytes, 1) * 8)] if begin_s + number * column_s <= after_all else " ", "memory")
        for number, size in enumerate(sizes)
    ]
