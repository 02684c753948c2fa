"""The pages below the timeline: tables to sort by any column, and the verdict in full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import DataTable, Static

from course.run_tables import Table
from lab.language import N_

PADDING = 2
"""Columns that a cell, and the table, need beside their text."""
SCROLLBAR = 2
LEAST_TEXT = 14
"""The first column gets no narrower."""
LEAST_OTHER_TEXT = 8


@dataclass(frozen=True)
class Page:
    """One of the pages: a table, or text for a given width."""

    title: str
    made: Callable[[], Table] | Callable[[int], Content]
    is_text: bool = False


class ReportScroll(VerticalScroll):
    """The verdict in full, to scroll in."""

    BINDINGS = [  # noqa: RUF012
        Binding("j", "scroll_down", N_("Down"), show=False, id="report.down"),
        Binding("k", "scroll_up", N_("Up"), show=False, id="report.up"),
    ]


class RunTables(Vertical):
    """Shows one page at a time."""

    DEFAULT_CSS = """
    RunTables {
        height: 1fr;
        & > #note { height: auto; max-height: 2; padding: 0 1; color: $foreground 70%; }
        & > #rows { height: 1fr; padding: 0 1; background: $background; }
        & > #rows > .datatable--header { background: $background; color: $text-primary; }
        & > #rows > .datatable--cursor { background: $primary 25%; color: $foreground; }
        & > #rows > .datatable--cursor:ansi { background: transparent; text-style: reverse; }
        & > #report { height: 1fr; padding: 0 1; }
        & > #report > Static { height: auto; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.pages: Sequence[Page] = ()
        self.number = 0
        self._tables: dict[int, Table] = {}
        self._order: dict[str, int] = {}
        """By which column each table is sorted, once another one than its own was chosen."""
        self._drawn_width = 0

    def compose(self) -> ComposeResult:
        yield Static(id="note", markup=False)
        yield DataTable(id="rows", cursor_type="row", zebra_stripes=False)
        with ReportScroll(id="report"):
            yield Static(markup=False)

    def show_pages(self, pages: Sequence[Page]) -> None:
        """Other pages; the same one stays open, if it is still there."""
        self.pages = pages
        self._tables.clear()
        self.show_page(min(self.number, len(pages) - 1))

    def show_page(self, number: int) -> None:
        self.number = number
        page = self.pages[number]
        self.query_one("#rows").display = not page.is_text
        self.query_one("#report").display = page.is_text
        self._fill()

    @property
    def table(self) -> Table | None:
        """The table that is shown; it is made when it is first looked at."""
        page = self.pages[self.number] if self.pages else None
        if page is None or page.is_text:
            return None
        if self.number not in self._tables:
            self._tables[self.number] = page.made()  # type: ignore[call-arg, assignment]
        return self._tables[self.number]

    @property
    def sorted_by(self) -> int | None:
        """The column by which the table is sorted; None where its rows have an order of their own."""
        table = self.table
        by = self._order.get(table.title, table.sorted_by) if table is not None else None
        return None if by is None or table is None else min(by, len(table.columns) - 1)

    def sort_by(self, column: int) -> None:
        if (table := self.table) is not None:
            self._order[table.title] = column
            self._fill()

    def sort_by_next(self) -> None:
        if (table := self.table) is not None:
            by = self.sorted_by
            self.sort_by(0 if by is None else (by + 1) % len(table.columns))

    @on(DataTable.HeaderSelected)
    def _header_clicked(self, event: DataTable.HeaderSelected) -> None:
        self.sort_by(event.column_index)

    def on_resize(self) -> None:
        if self.pages and self.size.width != self._drawn_width:
            self._fill()

    def as_text(self) -> str:
        """What is shown, for the clipboard."""
        table = self.table
        if table is not None:
            return table.as_text(self.sorted_by)
        return f"{self.query_one('#report Static', Static).content}\n"

    def _fill(self) -> None:
        self._drawn_width = self.size.width
        note = self.query_one("#note", Static)
        table = self.table
        if table is None:
            note.display = False
            make: Callable[[int], Content] = self.pages[self.number].made  # type: ignore[assignment]
            self.query_one("#report Static", Static).update(make(max(self.size.width - 3, 40)))
            return
        note.display = bool(table.note)
        note.update(table.note)
        self._fill_table(table)

    def _fill_table(self, table: Table) -> None:
        widget = self.query_one(DataTable)
        widget.clear(columns=True)
        by = self.sorted_by
        rows = table.ordered(by)
        cells = [[column.show(value) for column, value in zip(table.columns, row, strict=True)] for row in rows]
        titles = [f"{column.title} ▾" if at == by else column.title for at, column in enumerate(table.columns)]
        widths = [max(len(title), *(len(row[at]) for row in cells), 0) for at, title in enumerate(titles)]
        room = self.size.width - PADDING * len(widths) - PADDING - SCROLLBAR
        text_at = [at for at, column in enumerate(table.columns) if column.is_text]
        fits = room - sum(widths[at] for at in range(len(widths)) if at not in text_at) >= LEAST_TEXT
        least = {at: max(len(titles[at]), LEAST_OTHER_TEXT) for at in text_at}
        least[0] = LEAST_TEXT if fits else self.size.width // 4  # what doesn't fit anyway is scrolled
        while sum(widths) > room and (wider := [at for at in text_at if widths[at] > least[at]]):
            widths[max(wider, key=lambda at: widths[at])] -= 1
        widths[0] += max(room - sum(widths), 0)
        for at, (column, title) in enumerate(zip(table.columns, titles, strict=True)):
            label = title if column.is_text else Text(title, justify="right")
            widget.add_column(label, key=str(at), width=widths[at])
        for row in cells:
            texts = (
                Text(cell, no_wrap=True, overflow="ellipsis") if column.is_text else Text(cell, justify="right")
                for column, cell in zip(table.columns, row, strict=True)
            )
            widget.add_row(*texts)
