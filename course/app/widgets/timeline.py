"""The timeline of a run: what the host did above what the GPU did, to zoom and scroll in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from course.app.widgets.timeline_lines import height, legend, lines
from course.app.widgets.timeline_rows import GUTTER, STYLES, strip
from course.lanes import RunView, most_allocated
from lab.language import N_

NEAREST_S = 1e-6
"""The narrowest window to zoom in to."""
ZOOM = 2.0


class Timeline(Widget, can_focus=True):
    """Two lanes above one another on one axis of time, with a cursor.

    The height of a column of the GPU says how much of the time that it stands for the GPU was busy.
    """

    ALLOW_SELECT = False
    BINDINGS = [  # noqa: RUF012
        Binding("left,h", "move(-1)", N_("Back in time"), show=False, id="timeline.left"),
        Binding("right,l", "move(1)", N_("On in time"), show=False, id="timeline.right"),
        Binding("pageup,shift+left,H,less_than_sign", "page(-1)", N_("Back by half"), show=False, id="timeline.back"),
        Binding("pagedown,shift+right,L,greater_than_sign", "page(1)", N_("On by half"), show=False, id="timeline.on"),
        Binding("plus,equals_sign,up,k", "zoom(1)", N_("Zoom in"), show=False, id="timeline.in"),
        Binding("minus,down,j", "zoom(-1)", N_("Zoom out"), show=False, id="timeline.out"),
        Binding("0,a", "all", N_("All"), show=False, id="timeline.all", tooltip=N_("Show the whole run")),
        Binding("n", "gap(1)", N_("Next gap"), show=False, id="timeline.gap.next", tooltip=N_("To the next long gap")),
        Binding(
            "p", "gap(-1)", N_("Gap before"), show=False, id="timeline.gap.previous", tooltip=N_("To the gap before")
        ),
        Binding(
            "m", "peak", N_("Peak of memory"), show=False, id="timeline.peak", tooltip=N_("To the peak of the memory")
        ),
        Binding("home", "edge(0)", N_("Begin of the run"), show=False, id="timeline.home"),
        Binding("end", "edge(1)", N_("End of the run"), show=False, id="timeline.end"),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"timeline--{name}" for name in STYLES}
    DEFAULT_CSS = """
    Timeline {
        height: auto; width: 1fr; pointer: crosshair;
        & > .timeline--launch { color: $text-success; }
        & > .timeline--forward { color: $text-success; }
        & > .timeline--backward { color: $text-primary; }
        & > .timeline--optimizer { color: $text-secondary; }
        & > .timeline--data { color: $text-accent; }
        & > .timeline--copy { color: $text-secondary; }
        & > .timeline--alloc { color: $text-warning; }
        & > .timeline--wait { color: $text-warning; }
        & > .timeline--read { color: $text-error; }
        & > .timeline--code { color: $foreground 70%; }
        & > .timeline--kernel { color: $text-success; }
        & > .timeline--memcpy { color: $text-secondary; }
        & > .timeline--memset { color: $text-primary; }
        & > .timeline--collective { color: $text-accent; }
        & > .timeline--gap { color: $text-warning; }
        & > .timeline--memory { color: $text-primary; }
        & > .timeline--axis { color: $foreground 70%; }
        & > .timeline--name { color: $foreground; text-style: bold; }
        & > .timeline--cursor { color: $text-accent; text-style: bold; }
    }
    """

    run: reactive[RunView | None] = reactive(None, layout=True)
    """What is shown."""
    before: reactive[RunView | None] = reactive(None, layout=True)
    """Another run to show above it, on the same scale."""
    explained: reactive[bool] = reactive(True, layout=True)
    """Whether the signs are explained below."""
    brief: reactive[bool] = reactive(False, layout=True)
    """Whether names, or of two runs the memory, are left out, where there is little room."""
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
            self.window = (0.0, self.whole_s)
            self.cursor_s = 0.0
        self._changed()

    def watch_before(self) -> None:
        if self.run is not None:
            self.window = (0.0, self.whole_s)
        self._changed()

    def redraw(self) -> None:
        """Draw everything again, in other words."""
        self._lines = None
        self.refresh()

    def watch_explained(self) -> None:
        self._lines = None

    def watch_brief(self) -> None:
        self._lines = None

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
    def whole_s(self) -> float:
        """How long the run took; of two the longer one."""
        return max(*(each.window_s for each in (self.run, self.before) if each is not None), 0.0, NEAREST_S)

    @property
    def chart_width(self) -> int:
        """How many columns the time has."""
        return max(self.size.width - GUTTER, 1)

    @property
    def column_s(self) -> float:
        """How much time a column stands for."""
        return (self.window[1] - self.window[0]) / self.chart_width

    @property
    def allocated_at_cursor(self) -> int:
        """The most memory that was allocated in the cursor's column, in bytes."""
        before_s = math.floor((self.cursor_s - self.window[0]) / self.column_s) * self.column_s
        begin_s = min(self.window[0] + before_s, self.cursor_s)
        return most_allocated(self.run.memory_sizes, begin_s, begin_s + self.column_s, 1)[0] if self.run else 0

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        if self.run is None:
            return 4
        explains = len(legend(self.run, self.before, width)) if self.explained else 0
        return height(self.run, self.before, self.brief) + explains

    def look_at(self, begin_s: float, end_s: float) -> None:
        """Show this part of the run, as far as there is one."""
        whole_s = self.whole_s
        wide_s = min(max(end_s - begin_s, NEAREST_S), whole_s)
        begin_s = min(max(begin_s, 0.0), whole_s - wide_s)
        self.window = (begin_s, begin_s + wide_s)

    def point_at(self, at_s: float) -> None:
        """Move the cursor, and the window with it if need be."""
        assert self.run is not None
        self.cursor_s = min(max(at_s, 0.0), self.whole_s)
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
        if action == "peak":
            return self.run is not None and bool(self.run.memory)
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
            self.look_at(0.0, self.whole_s)

    def action_edge(self, edge: int) -> None:
        if self.run is not None:
            self.point_at(self.whole_s * edge)

    def action_peak(self) -> None:
        if self.run is not None and (peak := self.run.peak):
            self.point_at(peak.at_s)

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

    def _draw(self) -> list[Strip]:
        run = self.run
        if run is None or self.size.width <= GUTTER:
            return []
        kinds = {name: self.get_component_rich_style(f"timeline--{name}") for name in STYLES}
        cursor = math.floor((self.cursor_s - self.window[0]) / self.column_s)
        drawn = list(lines(run, self.before, self.window, self.chart_width, cursor, kinds, self.brief))
        for name, signs in legend(run, self.before, self.size.width) if self.explained else ():
            cells = [(char, style) for text, style in signs for char in f"{text}  "]
            drawn.append(strip(name, cells, kinds, -1))
        return [line.adjust_cell_length(self.size.width, self.rich_style) for line in drawn]
