"""The timeline of a run: what the host did above what the GPU did, to zoom and scroll in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from course.run_view import GPU_KINDS, HOST_KINDS, Column, RunView, columns, in_ms, within

GUTTER = 6
"""Columns for the names of the lanes."""
MOST_STREAMS = 4
"""How many lanes the GPU gets at most; a run with more shows the busiest ones."""
NEAREST_S = 1e-6
"""The narrowest window to zoom in to."""
ZOOM = 2.0
HOST_GLYPHS = {
    "launch": "█",
    "data": "░",
    "backward": "▓",
    "optimizer": "▚",
    "copy": "↑",
    "wait": "▒",
    "read": "◆",
    "code": "·",
}
"""How each kind is drawn: told apart without colours, too."""
BARS = " ▁▂▃▄▅▆▇█"
IDLE, COPY, PART_COPY, MARK, CURSOR = "·", "▒", "░", "▾", "┃"


class Timeline(Widget, can_focus=True):
    """Two lanes above one another on one axis of time, with a cursor.

    The height of a column of the GPU says how much of the time that it stands for the GPU was busy.
    """

    ALLOW_SELECT = False
    BINDINGS = [  # noqa: RUF012
        Binding("left,h", "move(-1)", "Back in time", show=False, id="timeline.left"),
        Binding("right,l", "move(1)", "On in time", show=False, id="timeline.right"),
        Binding("pageup,shift+left,H,less_than_sign", "page(-1)", "Back by half", show=False, id="timeline.back"),
        Binding("pagedown,shift+right,L,greater_than_sign", "page(1)", "On by half", show=False, id="timeline.on"),
        Binding("plus,equals_sign,up,k", "zoom(1)", "Zoom in", show=False, id="timeline.in"),
        Binding("minus,down,j", "zoom(-1)", "Zoom out", show=False, id="timeline.out"),
        Binding("0,a", "all", "All", show=False, id="timeline.all", tooltip="Show the whole run"),
        Binding("n,g", "gap(1)", "Next gap", show=False, id="timeline.gap.next", tooltip="To the next long gap"),
        Binding("p,G", "gap(-1)", "Gap before", show=False, id="timeline.gap.previous", tooltip="To the gap before"),
        Binding("home", "edge(0)", "Begin of the run", show=False, id="timeline.home"),
        Binding("end", "edge(1)", "End of the run", show=False, id="timeline.end"),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"timeline--{name}" for name in (*HOST_KINDS, "kernel", "memcpy", "memset", "gap", "axis", "name", "cursor")
    }
    DEFAULT_CSS = """
    Timeline {
        height: auto; width: 1fr; pointer: crosshair;
        & > .timeline--launch { color: $text-success; }
        & > .timeline--backward { color: $text-primary; }
        & > .timeline--optimizer { color: $text-secondary; }
        & > .timeline--data { color: $text-accent; }
        & > .timeline--copy { color: $text-secondary; }
        & > .timeline--wait { color: $text-warning; }
        & > .timeline--read { color: $text-error; }
        & > .timeline--code { color: $foreground 70%; }
        & > .timeline--kernel { color: $text-success; }
        & > .timeline--memcpy { color: $text-secondary; }
        & > .timeline--memset { color: $text-primary; }
        & > .timeline--gap { color: $text-warning; }
        & > .timeline--axis { color: $foreground 70%; }
        & > .timeline--name { color: $foreground; text-style: bold; }
        & > .timeline--cursor { color: $text-accent; text-style: bold; }
    }
    """

    run: reactive[RunView | None] = reactive(None, layout=True)
    """What is shown."""
    window: reactive[tuple[float, float]] = reactive((0.0, 1.0))
    """The part of the run that is seen, in seconds from its begin."""
    cursor_s: reactive[float] = reactive(0.0)
    """The moment that is pointed at."""

    @dataclass
    class Moved(Message):
        """Another moment is pointed at, or another part of the run is seen."""

        cursor_s: float

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: list[Strip] | None = None
        self._dragged_from: tuple[int, tuple[float, float]] | None = None

    # What is seen

    def watch_run(self, run: RunView | None) -> None:
        if run is not None:
            self.window = (0.0, max(run.window_s, NEAREST_S))
            self.cursor_s = 0.0

    def watch_window(self) -> None:
        self._changed()

    def watch_cursor_s(self) -> None:
        self._changed()

    def on_resize(self) -> None:
        self._changed()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._lines = None

    def _changed(self) -> None:
        self._lines = None
        self.post_message(self.Moved(self.cursor_s))
        self.refresh()

    @property
    def chart_width(self) -> int:
        """How many columns the time has."""
        return max(self.size.width - GUTTER, 1)

    @property
    def column_s(self) -> float:
        """How much time a column stands for."""
        return (self.window[1] - self.window[0]) / self.chart_width

    def streams(self) -> dict[str, int]:
        """The streams that have a lane, by the lane's name."""
        if self.run is None:
            return {}
        spans = self.run.streams
        busiest = sorted(spans, key=lambda stream: -sum(span.duration_s for span in spans[stream]))[:MOST_STREAMS]
        if len(spans) == 1:
            return {"GPU": busiest[0]}
        return {f"GPU {stream}"[:GUTTER]: stream for stream in sorted(busiest)}

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        streams = len(self.streams())
        return 4 + (2 * streams + 1 if streams else 0) + len(self._legend(width))

    def _legend(self, width: int) -> list[tuple[str, list[tuple[str, str]]]]:
        """What the signs mean: for each line the name of the lane, and the words, each with its style."""
        if self.run is None:
            return []
        kinds = {span.kind for span in self.run.host}
        host = [(f"{glyph} {HOST_KINDS[kind]}", kind) for kind, glyph in HOST_GLYPHS.items() if kind in kinds]
        gpu = [
            (f"█ {GPU_KINDS['kernel']}", "kernel"),
            (f"{COPY} {GPU_KINDS['memcpy']}", "memcpy"),
            (f"{IDLE} idle", "gap"),
            ("the higher a bar, the busier", "axis"),
        ]
        lines = [("Host", line) for line in _flow(host, width - GUTTER)]
        return [*lines, *(("GPU", line) for line in _flow(gpu, width - GUTTER) if self.run.streams)]

    def look_at(self, begin_s: float, end_s: float) -> None:
        """Show this part of the run, as far as there is one."""
        assert self.run is not None
        whole_s = max(self.run.window_s, NEAREST_S)
        wide_s = min(max(end_s - begin_s, NEAREST_S), whole_s)
        begin_s = min(max(begin_s, 0.0), whole_s - wide_s)
        self.window = (begin_s, begin_s + wide_s)

    def point_at(self, at_s: float) -> None:
        """Move the cursor, and the window with it if need be."""
        assert self.run is not None
        self.cursor_s = min(max(at_s, 0.0), self.run.window_s)
        begin_s, end_s = self.window
        wide_s = end_s - begin_s
        if self.cursor_s < begin_s:
            self.look_at(self.cursor_s - wide_s / 4, self.cursor_s + wide_s * 3 / 4)
        elif self.cursor_s > end_s:
            self.look_at(self.cursor_s - wide_s * 3 / 4, self.cursor_s + wide_s / 4)

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "gap":
            return self.run is not None and bool(self.run.gaps)
        return self.run is not None

    def action_move(self, direction: int) -> None:
        column = math.floor((self.cursor_s - self.window[0]) / self.column_s) + direction
        self.point_at(self.window[0] + (column + 0.5) * self.column_s)

    def action_page(self, direction: int) -> None:
        begin_s, end_s = self.window
        step_s = direction * (end_s - begin_s) / 2
        self.look_at(begin_s + step_s, end_s + step_s)
        self.point_at(self.cursor_s + step_s)

    def action_zoom(self, direction: int) -> None:
        self.zoom_at(self.cursor_s, ZOOM**-direction)

    def zoom_at(self, at_s: float, factor: float) -> None:
        """Make the window wider by this factor; what is at this moment stays where it is."""
        begin_s, end_s = self.window
        wide_s = max((end_s - begin_s) * factor, NEAREST_S)
        left_s = (at_s - begin_s) / (end_s - begin_s) * wide_s
        self.look_at(at_s - left_s, at_s - left_s + wide_s)

    def action_all(self) -> None:
        if self.run is not None:
            self.look_at(0.0, self.run.window_s)

    def action_edge(self, edge: int) -> None:
        if self.run is not None:
            self.point_at(self.run.window_s * edge)

    def action_gap(self, direction: int) -> None:
        """Go to the next of the long gaps, so that it is wide enough to be seen."""
        assert self.run is not None
        gaps = self.run.long_gaps
        middles = [(gap.begin_s + gap.end_s) / 2 for gap in gaps]
        least_s = self.column_s / 1e6  # where the cursor stands is not ahead of it
        ahead = [
            number for number, middle_s in enumerate(middles) if direction * (middle_s - self.cursor_s) > least_s
        ] or list(range(len(gaps)))
        number = ahead[0] if direction > 0 else ahead[-1]
        gap = gaps[number]
        wide_s = self.window[1] - self.window[0]
        seen = self.window[0] <= gap.begin_s and gap.end_s <= self.window[1]
        if not wide_s / 20 <= gap.duration_s <= wide_s * 0.8:
            wide_s, seen = gap.duration_s * 3, False
        if not seen:
            self.look_at(middles[number] - wide_s / 2, middles[number] + wide_s / 2)
        self.point_at(middles[number])

    # Mouse

    def _time_at(self, x: int) -> float:
        return self.window[0] + (x - GUTTER + 0.5) * self.column_s

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if self.run is not None and event.x >= GUTTER:
            self.point_at(self._time_at(event.x))
            self._dragged_from = (event.x, self.window)
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragged_from is not None and self.run is not None:
            x, (begin_s, end_s) = self._dragged_from
            moved_s = (x - event.x) * self.column_s
            self.look_at(begin_s + moved_s, end_s + moved_s)

    def on_mouse_up(self) -> None:
        self._dragged_from = None
        self.release_mouse()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, -1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, 1)

    def _wheel(self, event: events.MouseEvent, direction: int) -> None:
        """The wheel zooms where the pointer is; with Shift or Ctrl it scrolls."""
        if self.run is None:
            return
        event.stop()
        if event.shift or event.ctrl:
            step_s = direction * (self.window[1] - self.window[0]) / 8
            self.look_at(self.window[0] + step_s, self.window[1] + step_s)
        else:
            self.zoom_at(self._time_at(max(event.x, GUTTER)), ZOOM**direction)

    # Drawing

    def render_line(self, y: int) -> Strip:
        if self._lines is None:
            self._lines = self._draw()
        if y < len(self._lines):
            return self._lines[y]
        return Strip.blank(self.size.width, self.rich_style)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"timeline--{name}")

    def _draw(self) -> list[Strip]:
        run = self.run
        if run is None or self.size.width <= GUTTER:
            return []
        kinds = {name: self._style(name) for name in (*HOST_KINDS, *GPU_KINDS, "gap", "axis", "name", "cursor")}
        width, (begin_s, end_s) = self.chart_width, self.window
        cursor = math.floor((self.cursor_s - begin_s) / self.column_s)
        lines = [
            _line("", _axis(width, begin_s, end_s, cursor), kinds, cursor),
            _line("", _marks(run, width, begin_s, self.column_s), kinds, cursor),
            _line("Host", _host_row(columns(run.host, begin_s, end_s, width)), kinds, cursor),
            _line("", _names(run, width, begin_s, self.column_s), kinds, cursor),
        ]
        for name, stream in self.streams().items():
            upper, lower = _gpu_rows(columns(run.streams[stream], begin_s, end_s, width))
            lines += [_line(name, upper, kinds, cursor), _line("", lower, kinds, cursor)]
        if run.streams:
            lines.append(_line("idle", _gap_row(run, width, begin_s, self.column_s), kinds, cursor))
        for name, signs in self._legend(self.size.width):
            cells = [(char, style) for text, style in signs for char in f"{text}  "]
            lines.append(_line(name, cells, kinds, -1))
        return [line.adjust_cell_length(self.size.width, self.rich_style) for line in lines]


Cell = tuple[str, str]
"""A character and the name of its style."""


def _flow(words: list[tuple[str, str]], width: int) -> list[list[tuple[str, str]]]:
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


def _line(name: str, cells: list[Cell], kinds: Mapping[str, Style], cursor: int) -> Strip:
    """A row of the timeline; where it is empty, the cursor shows through."""
    around = "".join(char for char, _ in cells[max(cursor - 1, 0) : cursor + 2])
    if 0 <= cursor < len(cells) and cells[cursor][0] in f" {IDLE}" and not any(char.isalnum() for char in around):
        cells[cursor] = (CURSOR, "cursor")
    segments = [Segment(f"{name:<{GUTTER}}", kinds["name"])]
    begin = 0
    for end in range(1, len(cells) + 1):
        if end == len(cells) or cells[end][1] != cells[begin][1]:
            segments.append(Segment("".join(char for char, _ in cells[begin:end]), kinds[cells[begin][1]]))
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


def _axis(width: int, begin_s: float, end_s: float, cursor: int) -> list[Cell]:
    cells = [("─", "axis")] * width
    step_s = tick_s(end_s - begin_s, width // 14)
    digits = max(-math.floor(math.log10(step_s * 1e3) + 1e-9), 0)
    column_s = (end_s - begin_s) / width
    for number in range(math.ceil(begin_s / step_s - 1e-9), math.floor(end_s / step_s + 1e-9) + 1):
        column = math.floor((number * step_s - begin_s) / column_s + 1e-9)
        label = f"┬{number * step_s * 1e3:.{digits}f} ms"
        if column < width:
            _write(cells, column, label if column + len(label) <= width else "┬", "axis")
    if 0 <= cursor < width and cells[cursor][0] in "─┬":
        cells[cursor] = ("▼", "cursor")
    return cells


def _marks(run: RunView, width: int, begin_s: float, column_s: float) -> list[Cell]:
    """The program's labels and clock reads, as far as there is room; labels come first."""
    cells = [(" ", "axis")] * width
    for kinds in (("label", "profiler"), ("clock",)):
        for mark in run.marks:
            column = math.floor((mark.at_s - begin_s) / column_s)
            if mark.kind not in kinds or not 0 <= column < width or cells[column][0] != " ":
                continue
            text = f"{MARK}{mark.name}"
            room = next((n for n in range(column, width) if cells[n][0] != " "), width) - column
            fits = len(text) < room
            _write(cells, column, text if fits else MARK, "optimizer" if mark.kind == "clock" else "data")
    return cells


def _host_row(lane: list[Column]) -> list[Cell]:
    return [(HOST_GLYPHS[column.kind], column.kind) if column.kind else (" ", "axis") for column in lane]


def _names(run: RunView, width: int, begin_s: float, column_s: float) -> list[Cell]:
    """The names of what takes long enough to have its name below it."""
    cells = [(" ", "axis")] * width
    for span in within(run.host, begin_s, begin_s + width * column_s):
        first = max(math.ceil((span.begin_s - begin_s) / column_s), 0)
        room = min(math.floor((span.end_s - begin_s) / column_s), width) - first
        for text in (f"{span.name} {in_ms(span.duration_s)}", span.name):
            if len(text) < room:
                _write(cells, first, text, span.kind)
                break
    return cells


def _gpu_rows(lane: list[Column]) -> tuple[list[Cell], list[Cell]]:
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
        else:
            upper.append((BARS[max(level - 8, 0)], kind))
            lower.append((BARS[min(level, 8)], kind))
    return upper, lower


def _gap_row(run: RunView, width: int, begin_s: float, column_s: float) -> list[Cell]:
    """Brackets below the gaps, with what the GPU waited for where there is room."""
    cells = [(" ", "gap")] * width
    for gap in within(run.gaps, begin_s, begin_s + width * column_s):
        first = max(round((gap.begin_s - begin_s) / column_s), 0)
        end = min(round((gap.end_s - begin_s) / column_s), width)
        room = end - first - 2
        if room < 0:
            continue
        words = (f"{in_ms(gap.duration_s)}: {gap.words}", in_ms(gap.duration_s), "")
        text = next(text for text in words if len(text) <= room)
        _write(cells, first, f"└{text.center(room, '─')}┘", "gap")
    return cells
