"""What a program prints, as it comes, without ever reading it as markup."""

from __future__ import annotations

import re

from rich.cells import cell_len
from textual.actions import SkipAction
from textual.binding import Binding
from textual.geometry import Size
from textual.widgets import Log

from lab.language import N_

MOST_LINES = 20_000
MOST_COLUMNS = 10_000
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def _shown(line: str) -> str:
    """A line as it is seen: each carriage return begins it again; what no screen could show is cut off."""
    if "\r" in line:
        line = line.rsplit("\r", 1)[1]
    return line if len(line) <= MOST_COLUMNS else line[: MOST_COLUMNS - 1] + "…"


def _width(line: str) -> int:
    return len(line) if line.isascii() and "\t" not in line else cell_len(line.expandtabs())


class OutputView(Log):
    """Lines of a program's output. Wide lines scroll sideways, so that tables stay tables."""

    BINDINGS = [  # noqa: RUF012
        Binding("j", "scroll_down", N_("Scroll down"), show=False, id="output.down"),
        Binding("k", "scroll_up", N_("Scroll up"), show=False, id="output.up"),
        Binding("left,h", "sideways(-1)", N_("Scroll left"), show=False, id="output.left"),
        Binding("right,l", "sideways(1)", N_("Scroll right"), show=False, id="output.right"),
    ]
    DEFAULT_CSS = """
    OutputView {
        background: $surface; overflow-x: auto; overflow-y: auto; scrollbar-size: 1 1; padding: 0 1;
        &:focus { background-tint: $foreground 0%; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes, max_lines=MOST_LINES)
        self._cut = ""
        self._follows = True
        """Whether to scroll along; whoever has scrolled up to read stays there."""

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value >= self.max_scroll_y:
            self._follows = True
        elif new_value < old_value:
            self._follows = False

    def feed(self, chunk: str) -> None:
        """Add what the program printed: terminal codes are left out, a carriage return begins its line again."""
        text = self._cut + chunk
        # An escape sequence, or the first half of "\r\n", may be cut in two between chunks: keep it for the next one.
        keep = re.search(r"(?:\x1b[^\x1b]{0,40}|\r)\Z", text)
        self._cut = ""
        if keep and not _ESCAPES.match(keep.group()):
            text, self._cut = text[: keep.start()], keep.group()
        text = text if "\x1b" not in text else _ESCAPES.sub("", text)
        first, *lines = text.replace("\r\n", "\n").split("\n")
        if not self._lines:
            self._lines.append("")
        at = len(self._lines) - 1
        self._lines[-1] = _shown(self._lines[-1] + first)
        self._lines += [_shown(line) for line in lines[-MOST_LINES:]]
        self._render_line_cache.discard(at)
        self._width = max(self._width, *(_width(line) for line in self._lines[at:]))
        self._prune_max_lines()
        self.virtual_size = Size(self._width, self.line_count)
        if self._follows:
            self.scroll_end(animate=False, immediate=True, x_axis=False)
        self.refresh()

    @property
    def is_wide(self) -> bool:
        """Whether a line is wider than what is seen of it."""
        seen = self.scrollable_content_region.width
        return 0 < seen < self.virtual_size.width

    def scroll_sideways(self, direction: int) -> None:
        """Scroll by half of the width, to the right (1) or to the left (-1)."""
        step = max(self.scrollable_content_region.width // 2, 1)
        self.scroll_to(x=self.scroll_x + direction * step, animate=False, force=True)

    def action_sideways(self, direction: int) -> None:
        if not self.is_wide:
            raise SkipAction  # the key is free for what the screen does with it
        self.scroll_sideways(direction)

    def finish(self) -> None:
        """The program has ended: show what was kept back."""
        self._cut = ""

    def clear(self) -> OutputView:
        self._cut = ""
        super().clear()
        self._follows = True
        return self

    @property
    def text(self) -> str:
        """All that is shown."""
        return "\n".join(self.lines)
