"""The timeline of a run or a trace: what the host and the GPU did, what the GPU waited for, and what took its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from course.app.run_words import headline, report
from course.app.runs import SeenRun, Shown
from course.app.screens.base import HELP, CourseScreen
from course.app.widgets.actions import ActionBar, ActionButton
from course.app.widgets.job import Headline, StatusLine
from course.app.widgets.run_tables import Page, RunTables
from course.app.widgets.timeline import Timeline
from course.lanes import RunView, Span
from course.remedies import REMEDIES
from course.run_tables import Table, averages_table, idle_table, in_mib, in_ms, kernel_table, memory_table
from lab.language import N_, _

if TYPE_CHECKING:
    from course.run_overlay import Overlay

QUIET = "$foreground 70%"
REAL = N_("The kernels of a real GPU are seen by torch.profiler only.")
NOTHING = N_("This run gave the GPU nothing to do.")
OWN_INPUTS = N_("A check draws its own inputs: what differs may be theirs. To see what a change did, compare two runs.")
ROOM_ROWS, ROOM_ROWS_FOR_TWO = 24, 30
"""From how many rows on there is room for the legend, of one run and of two."""
TITLES = (N_("Idle"), N_("Kernels"), N_("Operators"), N_("Memory"), N_("Verdict"), N_("Compare"))


class TimelineScreen(CourseScreen):
    """One run, or one device of a trace, over time; or two runs over one another."""

    CSS_PATH = "timeline.tcss"
    EXPLAINS = N_("""\
A run over time: what the program did (host) above what the GPU did. The height of a bar says how much of its time the
GPU was busy; below, brackets mark where it was idle, and what it waited for. The legend tells the signs. The first
line is the verdict; **5** shows it in full, with what to try, and **Ctrl+O** opens the card that teaches it.

**+** and **-** zoom, **←** and **→** move the cursor, **<** and **>** go half a window, **n** goes to the next long
gap, **0** shows the whole run again. The wheel zooms, with Shift it scrolls; dragging moves the window. Two lines above
the table say what was going on at the cursor.

**o** lays the run before over this one, both on the same scale, and says what became of the time. **x** pins this run:
later ones are then compared with it. **[** and **]** choose another run to compare with.

The last row is the memory that was allocated, as high as its share of the peak; **m** goes to the peak, **4** shows
what was alive then. What an allocation is, is told by the operator that made it, by modules and by optimizers.

**t** changes the table, **s** its order; Tab goes into it. Shares are of the whole run for idle time, else of the time
of all kernels and copies. “Other code” is a millisecond or more without a call of the GPU: Python, sleeping. After
“after” stands the call in which the host waited while the GPU ran dry.

On a simulated GPU all times are those of the simulated card. On a real one kernels are seen by torch.profiler only:
open its trace with Ctrl+P, “Open a trace”. **v** goes to the next device or rank of a trace.
""")
    BINDINGS = [  # noqa: RUF012
        HELP,
        Binding("escape,q,f10", "dismiss", N_("Back"), key_display="Esc", id="timeline.close", tooltip=N_("Go back")),
        Binding("o", "overlay", N_("Compare"), id="timeline.overlay", tooltip=N_("Lay the run before over this one")),
        Binding("t", "table", N_("Table"), id="timeline.table", tooltip=N_("Show the next table")),
        *(
            Binding(f"{number}", f"show_table({number - 1})", title, show=False, id=f"timeline.table{number}")
            for number, title in enumerate(TITLES, 1)
        ),
        Binding(
            "s", "sort", N_("Sort"), show=False, id="timeline.sort", tooltip=N_("Sort the table by the next column")
        ),
        Binding(
            "v", "next_view(1)", N_("Device"), id="timeline.view", tooltip=N_("The next device or rank of the trace")
        ),
        Binding("V", "next_view(-1)", N_("Device before"), show=False, id="timeline.view.previous"),
        Binding(
            "ctrl+o", "why", N_("Card"), id="timeline.why", tooltip=N_("Open the card that teaches this bottleneck")
        ),
        Binding("x", "pin", N_("Pin"), show=False, id="timeline.pin", tooltip=N_("Compare later runs with this one")),
        Binding(
            "left_square_bracket",
            "other(-1)",
            N_("Compare with the run before"),
            show=False,
            id="timeline.other.previous",
            tooltip=N_("Compare with an earlier run"),
        ),
        Binding(
            "right_square_bracket",
            "other(1)",
            N_("Compare with the run after"),
            show=False,
            id="timeline.other.next",
            tooltip=N_("Compare with a later run"),
        ),
        Binding("c", "copy_table", N_("Copy"), show=False, id="timeline.copy", tooltip=N_("Copy the table")),
    ]

    def __init__(self, seen: SeenRun, before: SeenRun | None = None) -> None:
        """
        Args:
            seen: What to show.
            before: Lay this one over it at once.
        """
        super().__init__()
        self._seen = seen
        self._choice = 0
        self._before = before
        self._overlay: Overlay | None = None

    def body(self) -> ComposeResult:
        yield Headline(id="timeline-title")
        yield StatusLine(id="timeline-facts")
        yield Timeline(id="timeline")
        yield Static(id="at-cursor", markup=False)
        yield RunTables(id="tables")
        yield ActionBar(
            *(
                ActionButton(title, f"{number + 1}", f"show_table({number})", id=f"table-{number}")
                for number, title in enumerate(TITLES)
            ),
            right=[
                ActionButton(N_("Zoom"), "+", "on_timeline('zoom', 1)", roomy=True),
                ActionButton("", "-", "on_timeline('zoom', -1)", roomy=True),
                ActionButton(N_("All"), "0", "on_timeline('all')", roomy=True),
                ActionButton(N_("Gap"), "n", "on_timeline('gap', 1)", id="next-gap"),
                ActionButton(N_("Over"), "o", "overlay", id="lay-over"),
            ],
        )

    def open(self) -> None:
        self.query_one(Timeline).focus()
        self._show()

    @property
    def shown(self) -> Shown:
        return self._seen.choices()[self._choice]

    @property
    def _run(self) -> RunView:
        return self.shown.view

    @property
    def _laid_under(self) -> Shown | None:
        """What is laid over this run: of a trace the same device, if there is one."""
        if self._before is None:
            return None
        choices = self._before.choices()
        return choices[min(self._choice, len(choices) - 1)]

    def _show(self) -> None:
        """Show another device, or with another run over it."""
        shown, under = self.shown, self._laid_under
        self.header.place = Content.assemble((_("Timeline"), "bold"), ("  ·  ", QUIET), self._seen.title)
        timeline = self.query_one(Timeline)
        timeline.before = None if under is None else under.view
        timeline.run = shown.view
        self._overlay = None
        self._explain_where_there_is_room()
        if under is not None:
            from course.run_overlay import overlay, undecided

            self._overlay = overlay(under.view, shown.view, under.diagnosis, shown.diagnosis)
            if self._before is not None and "check" in (self._before.kind, self._seen.kind):
                self._overlay = undecided(self._overlay, _(OWN_INPUTS))
        sees_gpu = bool(shown.view.streams)
        tables = self.query_one(RunTables)
        tables.show_pages(self._pages())
        if self._overlay is not None:
            self.action_show_table(len(TITLES) - 1)
        elif tables.number >= len(self._pages()) or not sees_gpu:
            self.action_show_table(4 if not sees_gpu else 0)
        else:
            self.action_show_table(tables.number)
        # With the comparison there are more buttons than a narrow terminal has room for; n does the same.
        bar = self.query_one(ActionBar)
        bar.show("next-gap", sees_gpu and (self._overlay is None or self.has_class("-wide")))
        bar.show("lay-over", self.course.runs.before(self._seen) is not None)
        bar.show(f"table-{len(TITLES) - 1}", self._overlay is not None)
        self._say_where()
        self.refresh_bindings()

    def retell(self) -> None:
        super().retell()
        self.query_one(Timeline).redraw()
        self._show()

    def _pages(self) -> list[Page]:
        shown, run = self.shown, self._run
        pages = [
            Page(TITLES[0], lambda: idle_table(run)),
            Page(TITLES[1], lambda: kernel_table(run)),
            Page(TITLES[2], lambda: averages_table(run, self._seen.kind == "trace")),
            Page(TITLES[3], lambda: memory_table(run, shown.is_real_run)),
            Page(TITLES[4], lambda width: report(shown.diagnosis, width), is_text=True),
        ]
        if self._overlay is not None:
            pages.append(Page(TITLES[5], self._comparison))
        return pages

    def _comparison(self) -> Table:
        from course.run_overlay import comparison_table

        assert self._overlay is not None
        assert self._before is not None
        return comparison_table(self._overlay, _("Before: {title}", title=self._before.title))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted:
            return True
        if action == "show_table":
            return parameters[0] != len(TITLES) - 1 or self._overlay is not None
        if action in ("overlay", "pin"):
            return self._before is not None or self.course.runs.before(self._seen) is not None or action == "pin"
        if action == "other":
            return self._before is not None and len(self.course.runs.others(self._seen)) > 1
        if action == "next_view":
            return len(self._seen.choices()) > 1
        return True

    def _explain_where_there_is_room(self) -> None:
        room = ROOM_ROWS if self._before is None else ROOM_ROWS_FOR_TWO
        timeline = self.query_one(Timeline)
        timeline.explained = self.app.size.height >= room
        timeline.brief = self.app.size.height < ROOM_ROWS
        self.set_class(self._before is not None, "-two")

    # Words

    @on(Timeline.Moved)
    def _say_where(self) -> None:
        timeline = self.query_one(Timeline)
        self.query_one("#at-cursor", Static).update(self._at(timeline.cursor_s))
        head = headline(self.shown)
        if self._overlay is not None:
            style = {True: "bold $text-success", False: "bold $text-error", None: "bold"}[self._overlay.helped]
            first, end, rest = self._overlay.summary.partition(". ")
            self.query_one("#timeline-title", StatusLine).text = Content.styled(first + end.strip(), style)
            self.query_one("#timeline-facts", StatusLine).text = Content(rest)
            return
        self.query_one("#timeline-title", StatusLine).text = head
        self.query_one("#timeline-facts", StatusLine).text = Content.styled(self._facts(), QUIET)

    def _facts(self) -> str:
        """How busy the GPU was and which part is seen; the peak, which the page of the memory tells too, if it fits."""
        run, timeline = self._run, self.query_one(Timeline)
        time = in_ms(run.window_s)
        if self._seen.kind == "trace" or self.shown.is_real:
            time = _("{time} on {gpu}", time=time, gpu=self.shown.gpu)
        else:
            time = _("{time} of simulated time", time=time)
        if run.streams and run.window_s:
            time = _("GPU busy {busy:.0%} of {time}", busy=run.busy_s / run.window_s, time=time)
        peak = _(", peak {size}", size=in_mib(run.peak.size_bytes)) if run.peak else ""
        begin_s, end_s = timeline.window
        is_all = end_s - begin_s >= timeline.whole_s
        seen = _("all of it") if is_all else _("{begin} to {end}", begin=in_ms(begin_s), end=in_ms(end_s))
        choices = len(self._seen.choices())
        more = [
            _("{number} of {choices}, v: next", number=self._choice + 1, choices=choices) if choices > 1 else "",
            seen,
            _("cut off: it did more") if run.cut_off else "",
            _("pinned") if self.course.runs.is_pinned(self._seen) else "",
        ]
        rest = "".join(f" · {each}" for each in more if each)
        told = f"{time}{peak}{rest}"
        return told if cell_len(told) <= self.size.width - 2 else f"{time}{rest}"

    def _at(self, at_s: float) -> Content:
        """What the host and the GPU were doing at a moment."""
        timeline = self.query_one(Timeline)
        under = self._laid_under
        if under is not None:
            first = Content.assemble((f"▼ {in_ms(at_s)}", "bold $text-accent"), _("  Before: "))
            return Content.assemble(first, _did(under.view, at_s), _("\n  After: "), _did(self._run, at_s))
        run = self._run
        host = run.host_lane.at(at_s)
        did = f"{_(host.name)}, {in_ms(host.duration_s)}" if host else _("ended")
        has = f"  ·  {in_mib(timeline.allocated_at_cursor)}" if run.memory else ""
        first = Content.assemble((f"▼ {in_ms(at_s)}", "bold $text-accent"), _("  Host: {did}{has}", did=did, has=has))
        if not run.streams:
            return Content.assemble(first, "\n", (_(REAL if self.shown.is_real_run else NOTHING), QUIET))
        return Content.assemble(first, "\n  ", _("GPU: "), _gpu_did(run, at_s))

    # The pages

    def action_table(self) -> None:
        self.action_show_table((self.query_one(RunTables).number + 1) % len(self._pages()))

    def action_show_table(self, number: int) -> None:
        """Show this one of the tables, or the verdict."""
        self.query_one(ActionBar).active = f"table-{number}"
        self.query_one(RunTables).show_page(number)

    def action_sort(self) -> None:
        self.query_one(RunTables).sort_by_next()

    def action_copy_table(self) -> None:
        self.course.copy(self.query_one(RunTables).as_text())

    def action_why(self) -> None:
        """Open the card that teaches what to do about the bottleneck."""
        self.course.show_aside(REMEDIES[self.shown.diagnosis.verdict.bottleneck].card)

    # Other runs and devices

    def action_overlay(self) -> None:
        self._before = None if self._before is not None else self.course.runs.before(self._seen)
        self._show()
        if self._before is None:
            self.action_show_table(0)

    def action_pin(self) -> None:
        if self.course.runs.pin(self._seen):
            self.notify(
                _("Later runs are compared with {title}.", title=self._seen.title),
                title=_("Pinned"),
                timeout=4,
                markup=False,
            )
        else:
            self.notify(_("Later runs are compared with the one before each."), title=_("No longer pinned"), timeout=4)
        self._show()

    def action_other(self, direction: int) -> None:
        others = self.course.runs.others(self._seen)
        if self._before in others:
            self._before = others[(others.index(self._before) + direction) % len(others)]
            self._show()

    def action_next_view(self, direction: int) -> None:
        self._choice = (self._choice + direction) % len(self._seen.choices())
        self._show()

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


def _gpu_did(run: RunView, at_s: float) -> Content:
    kernels = [span for lane in run.stream_lanes.values() if (span := lane.at(at_s))]
    if kernels:
        return Content(", ".join(f"{_kernel(span)}, {in_ms(span.duration_s)}" for span in kernels))
    gap = run.gap_lane.at(at_s)
    idle = _("idle for {time}, waiting for {cause}", time=in_ms(gap.duration_s), cause=gap.words) if gap else _("done")
    return Content.styled(idle, "$text-warning")


def _kernel(span: Span) -> str:
    return _("{kernel} of {op}", kernel=span.name, op=span.op) if span.op else span.name


def _did(run: RunView, at_s: float) -> Content:
    """Host and GPU of one of two runs, in a line."""
    host = run.host_lane.at(at_s)
    did = _(host.name) if host else _("ended")
    return Content.assemble(did, _("; "), _("GPU: "), _gpu_did(run, at_s) if run.streams else "?")
