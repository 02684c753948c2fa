"""The timeline of the last run: what the host and the GPU did, what the GPU waited for, and what took its time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import DataTable, Static

from course.app.screens.base import CourseScreen
from course.app.widgets.actions import ActionBar, ActionButton, Spring
from course.app.widgets.job import StatusLine
from course.app.widgets.timeline import Timeline
from course.run_tables import Row, idle_rows, in_mib, in_ms, kernel_rows, op_rows
from course.run_view import RunView, at

if TYPE_CHECKING:
    from course.app.grading import SeenRun

QUIET = "$foreground 70%"
REAL = "The kernels of a real GPU are seen by torch.profiler only."
NOTHING = "This run gave the GPU nothing to do."


@dataclass(frozen=True)
class Table:
    """One of the tables below the timeline."""

    title: str
    first: str
    calls: str
    rows: Callable[[RunView], list[Row]]


TABLES = (
    Table("Idle", "The GPU waited for", "Gaps", idle_rows),
    Table("Kernels", "Kernel or copy", "Calls", kernel_rows),
    Table("Operators", "Operator", "Launches", op_rows),
)
ROOM_ROWS = 22
"""From how many rows on there is room for the legend."""
NUMBERS_WIDTH = 50
"""Columns that the numbers of a table need."""
SORTED_BY: dict[str, Callable[[Row], Any]] = {
    "name": lambda row: row.name,
    "calls": lambda row: -row.calls,
    "total": lambda row: -row.total_s,
    "longest": lambda row: -row.longest_s,
    "share": lambda row: -row.share,
}


class TimelineScreen(CourseScreen):
    """One run over time."""

    CSS_PATH = "timeline.tcss"
    EXPLAINS = """\
The last run over time: what your program did (host) above what the GPU did. The height of a bar says how much of its
time the GPU was busy; below, brackets mark where it was idle, and what it waited for. The legend tells the signs.

**+** and **-** zoom, **←** and **→** move the cursor, **<** and **>** go half a window, **n** goes to the next long
gap, **0** shows the whole run again. The wheel zooms, with Shift it scrolls; dragging moves the window. Two lines above
the table say what was going on at the cursor.

The last row is the memory that was allocated, as high as its share of the peak; **m** goes to the peak.

**t** changes the table, **s** its order; Tab goes into it. Shares are of the whole run for idle time, else of the time
of all kernels and copies. “Other code” is a millisecond or more without a call of the GPU: Python, loading data,
sleeping. After “after” stands the call in which the host waited while the GPU ran dry.

On a simulated GPU all times are those of the simulated card. On a real one kernels are seen by torch.profiler only.
"""
    BINDINGS = [  # noqa: RUF012
        Binding("f1,question_mark", "app.help", "Help", id="help"),
        Binding("escape,q,f10", "dismiss", "Back", key_display="Esc", id="timeline.close", tooltip="Go back"),
        Binding("t", "table", "Table", id="timeline.table", tooltip="Show the next table"),
        *(
            Binding(f"{number}", f"show_table({number - 1})", table.title, show=False, id=f"timeline.table{number}")
            for number, table in enumerate(TABLES, 1)
        ),
        Binding("s", "sort", "Sort", id="timeline.sort", tooltip="Sort the table by the next column"),
        Binding("c", "copy_table", "Copy", show=False, id="timeline.copy", tooltip="Copy the table"),
    ]

    def __init__(self, seen: SeenRun) -> None:
        super().__init__()
        self._seen = seen
        self._run = seen.view()
        self._table = 0
        self._order = "total"

    def body(self) -> ComposeResult:
        yield StatusLine(id="timeline-title")
        yield Timeline(id="timeline")
        yield Static(id="at-cursor", markup=False)
        yield DataTable(id="rows", cursor_type="row", zebra_stripes=False)
        yield ActionBar(
            *(
                ActionButton(table.title, f"{number + 1}", f"show_table({number})", id=f"table-{number}")
                for number, table in enumerate(TABLES)
            ),
            Spring(),
            ActionButton("Zoom", "+", "on_timeline('zoom', 1)"),
            ActionButton("", "-", "on_timeline('zoom', -1)"),
            ActionButton("All", "0", "on_timeline('all')"),
            ActionButton("Next gap", "n", "on_timeline('gap', 1)", id="next-gap"),
        )

    def open(self) -> None:
        self.header.place = Content.assemble(("Timeline", "bold"), ("  ·  ", QUIET), self._seen.name)
        timeline = self.query_one(Timeline)
        timeline.run = self._run
        self._explain_where_there_is_room()
        sees_gpu = bool(self._run.streams)
        for name in ("#rows", "#next-gap", *(f"#table-{number}" for number in range(len(TABLES)))):
            self.query_one(name).display = sees_gpu
        if sees_gpu:
            self.action_show_table(0)
        timeline.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("table", "sort", "copy_table", "show_table"):
            return bool(self._run.streams)
        return True

    def _explain_where_there_is_room(self) -> None:
        self.query_one(Timeline).explained = self.app.size.height >= ROOM_ROWS

    # Words

    @on(Timeline.Moved)
    def _say_where(self) -> None:
        run, timeline = self._run, self.query_one(Timeline)
        begin_s, end_s = timeline.window
        seen = f"{in_ms(begin_s)} to {in_ms(end_s)}" if end_s - begin_s < run.window_s else "all of it"
        gpu = self._seen.gpu
        busy = f"GPU busy {run.busy_s / run.window_s:.0%}  ·  " if run.streams and run.window_s else ""
        cut = "  ·  cut off: it did more" if run.cut_off else ""
        title = f"{in_ms(run.window_s)} on a {f'{gpu.kind} ' if gpu else ''}GPU"
        self.query_one("#timeline-title", StatusLine).text = Content.assemble(
            (busy, "bold"), title, (f"  ·  {seen}{cut}", QUIET)
        )
        self.query_one("#at-cursor", Static).update(self._at(timeline.cursor_s))

    def _at(self, at_s: float) -> Content:
        """What the host and the GPU were doing at a moment."""
        run, timeline = self._run, self.query_one(Timeline)
        host = at(run.host, at_s)
        did = f"{host.name}, {in_ms(host.duration_s)}" if host else "ended"
        has = f"  ·  {in_mib(timeline.allocated_at_cursor)}" if run.memory else ""
        first = Content.assemble((f"▼ {in_ms(at_s)}", "bold $text-accent"), f"  Host: {did}{has}")
        if not run.streams:
            gpu = self._seen.gpu
            return Content.assemble(first, "\n", (REAL if gpu and gpu.kind == "real" else NOTHING, QUIET))
        kernels = [span for spans in run.streams.values() if (span := at(spans, at_s))]
        if kernels:
            now = ", ".join(f"{span.name} of {span.op}, {in_ms(span.duration_s)}" for span in kernels)
            return Content.assemble(first, "\n  GPU: ", now)
        gap = at(run.gaps, at_s)
        idle = f"idle for {in_ms(gap.duration_s)}, waiting for {gap.words}" if gap else "done"
        return Content.assemble(first, "\n  GPU: ", (idle, "$text-warning"))

    # The table

    def action_table(self) -> None:
        self.action_show_table((self._table + 1) % len(TABLES))

    def action_show_table(self, number: int) -> None:
        """Show this one of the tables."""
        self._table = number
        for each in range(len(TABLES)):
            self.query_one(f"#table-{each}").set_class(each == number, "-active")
        self._fill()

    def action_sort(self) -> None:
        orders = list(SORTED_BY)
        self._sort_by(orders[(orders.index(self._order) + 1) % len(orders)])

    def _sort_by(self, order: str) -> None:
        self._order = order
        self._fill()

    @on(DataTable.HeaderSelected)
    def _header_clicked(self, event: DataTable.HeaderSelected) -> None:
        if event.column_key.value:
            self._sort_by(event.column_key.value)

    def _rows(self) -> list[Row]:
        return sorted(TABLES[self._table].rows(self._run), key=SORTED_BY[self._order])

    def _fill(self) -> None:
        table, what = self.query_one(DataTable), TABLES[self._table]
        table.clear(columns=True)
        titles = {"name": what.first, "calls": what.calls, "total": "Total", "longest": "Longest", "share": "Share"}
        name_width = max(self.size.width - NUMBERS_WIDTH, 20)
        for order, title in titles.items():
            label = f"{title} ▾" if order == self._order else title
            table.add_column(
                label if order == "name" else Text(label, justify="right"),
                key=order,
                width=name_width if order == "name" else None,
            )
        for row in self._rows():
            numbers = (f"{row.calls}", in_ms(row.total_s), in_ms(row.longest_s), f"{row.share:.1%}")
            name = Text(row.name, no_wrap=True, overflow="ellipsis")
            table.add_row(name, *(Text(each, justify="right") for each in numbers))

    def action_copy_table(self) -> None:
        what = TABLES[self._table]
        lines = ["\t".join((what.first, what.calls, "Total ms", "Longest ms", "Share"))]
        for row in self._rows():
            numbers = f"{row.calls}\t{row.total_s * 1e3:.3f}\t{row.longest_s * 1e3:.3f}\t{row.share:.4f}"
            lines.append(f"{row.name}\t{numbers}")
        self.course.copy("\n".join(lines) + "\n")

    # Buttons

    def action_on_timeline(self, action: str, direction: int | None = None) -> None:
        """What a button does in the timeline."""
        timeline = self.query_one(Timeline)
        if action == "all":
            timeline.action_all()
        elif action == "zoom":
            timeline.action_zoom(direction or 1)
        else:
            timeline.action_gap(direction or 1)

    def on_resize(self) -> None:
        if self.is_mounted:
            self._explain_where_there_is_room()
        if self.is_mounted and self._run.streams:
            self._fill()
