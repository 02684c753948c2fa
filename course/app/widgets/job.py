"""A running program's state and output: what runs, for how long, what it prints, how it ended."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from course.app.widgets.output import OutputView
from course.app.widgets.plain import PlainVertical
from lab.language import N_, _, number

Summary = Callable[[], Content]
"""Says how a job ended, in the language that is spoken then."""


def nothing() -> Content:
    return Content("")


SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
STILL = "●"
"""In its place where motion is unwanted."""
TICK_S = 0.1
MOST_PENDING = 2_000_000
"""Characters that are drawn at most at a time; a program that prints faster is seen from its end."""
WIDE_HINT = N_("  ·  > scrolls right")


class StatusLine(Widget):
    """One line about what runs or how it ended."""

    DEFAULT_CSS = """
    StatusLine { height: 1; padding: 0 1; background: $surface; }
    """

    text = reactive(Content(""))
    """What it says."""

    def render(self) -> Content:
        return self.text.truncate(self.content_size.width, ellipsis=True)


class Headline(StatusLine):
    """A status line with a second row for what doesn't fit into one."""

    DEFAULT_CSS = """
    Headline { height: auto; max-height: 2; }
    """

    text = reactive(Content(""), layout=True)

    def render(self) -> Content:
        return self.text


class JobPanel(PlainVertical):
    """Shows one job at a time. What it prints is collected and drawn ten times a second, however fast it comes."""

    DEFAULT_CSS = """
    JobPanel { height: auto; }
    JobPanel > OutputView { height: 1fr; }
    """

    def __init__(self, *, grows_to: int | None = None, id: str | None = None, classes: str | None = None) -> None:
        """
        Args:
            grows_to: Make the output as high as what was printed, up to so many rows; None leaves it to the style.
        """
        super().__init__(id=id, classes=classes)
        self._grows_to = grows_to
        self._pending: deque[str] = deque()
        self._pending_size = 0
        self.label = ""
        """What runs."""
        self._waits_for: Callable[[], str | None] = lambda: None
        self._next: Callable[[], str | None] = lambda: None
        self._began_s = 0.0
        self._timer: Timer | None = None
        self._has_begun = False
        self._summary: Summary | None = None

    def compose(self) -> ComposeResult:
        yield StatusLine()
        yield OutputView(id="output")

    def on_mount(self) -> None:
        self._timer = self.set_interval(TICK_S, self._tick, pause=True)

    @property
    def output(self) -> OutputView:
        return self.query_one(OutputView)

    @property
    def status(self) -> StatusLine:
        return self.query_one(StatusLine)

    def begin(
        self,
        label: str,
        waits_for: Callable[[], str | None] = lambda: None,
        then: Callable[[], str | None] = lambda: None,
    ) -> None:
        """A job begins: clear what the one before printed.

        `waits_for` says, as long as the job can't really begin yet, what is done instead; `then` says what waits for
        this job to end.
        """
        self._waits_for, self._next = waits_for, then
        self._summary = None
        self.label, self._began_s, self._has_begun = label, time.monotonic(), True
        self._pending.clear()
        self._pending_size = 0
        self.output.clear()
        self._grow()
        if self._timer:
            self._timer.resume()
        self._tick()

    def feed(self, chunk: str) -> None:
        """The job printed something."""
        self._pending.append(chunk)
        self._pending_size += len(chunk)
        while self._pending_size > MOST_PENDING and len(self._pending) > 1:
            self._pending_size -= len(self._pending.popleft())  # nobody could have read it

    def end(self, summary: Summary = nothing) -> None:
        """The job has ended; `summary` says how."""
        self._has_begun = False
        if self._timer:
            self._timer.pause()
        self._draw()
        self.output.finish()
        self.tell(summary)
        # How wide the output is, is certain once it is laid out.
        self.call_after_refresh(self.tell_again)

    def tell_again(self) -> None:
        """Say again how the job ended: the output is laid out now, or the language is another one."""
        if self._summary is not None:
            self._grow()
            self.tell(self._summary)

    def tell(self, summary: Summary) -> None:
        """Say how the job ended, and how the rest of a line is reached that is wider than the output."""
        self._summary = summary
        hint = Content.styled(_(WIDE_HINT), "$foreground 60%") if self.output.is_wide else Content("")
        self.status.text = summary() + hint

    @property
    def is_cut(self) -> bool:
        """Whether what was printed needs scrolling to be read."""
        return self.output.is_wide or self.output.line_count > self.output.size.height

    def _grow(self) -> None:
        if self._grows_to is not None:
            rows = min(max(self.output.line_count, 1), self._grows_to)
            self.output.styles.height = rows + int(self.output.is_wide)

    def _draw(self) -> None:
        if self._pending:
            self.output.feed("".join(self._pending))
            self._pending.clear()
            self._pending_size = 0
            self._grow()

    @property
    def is_running(self) -> bool:
        """Whether a job has begun here and not ended."""
        return self._has_begun

    def _tick(self) -> None:
        elapsed_s = time.monotonic() - self._began_s
        still = self.app.animation_level == "none"
        frame = STILL if still else SPINNER[int(elapsed_s / TICK_S) % len(SPINNER)]
        waiting = self._next()
        waiting = _(waiting) if waiting else None
        self.status.text = Content.assemble(
            (f"{frame} ", "$text-accent"),
            f"{self._waits_for() or _(self.label)} {int(elapsed_s) if still else number(elapsed_s, '.1f')} s",
            (_("  ·  {waiting} waits for it to end; F8 cancels {waiting}", waiting=waiting), "$text-warning")
            if waiting
            else (_("  ·  F8 stops it"), "$foreground 60%"),
        )
        self._draw()
