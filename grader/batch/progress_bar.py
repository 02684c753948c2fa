"""Shows on a terminal how far the class is, and how long the rest will take."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from lab.language import _, ngettext, number

if TYPE_CHECKING:
    from grader.batch.grade import Progress

WIDTH = 30


class ProgressBar:
    """Where the stream is no terminal it only counts."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._shown = bool(stream is not None and stream.isatty())
        self._began_s = time.monotonic()
        self.kept = 0
        self.graded = 0

    def progress(self, progress: Progress) -> None:
        self.kept, self.graded = progress.kept, progress.done - progress.kept
        if not self._shown or not progress.of:
            return
        bar = "#" * (WIDTH * progress.done // progress.of)
        left = ""
        if self.graded:
            each_s = (time.monotonic() - self._began_s) / self.graded
            left = _(", about {time} left", time=_duration((progress.of - progress.done) * each_s))
        counted = ngettext("{done} of {n} graded", "{done} of {n} graded", progress.of, done=progress.done)
        print(f"\r\x1b[K[{bar:<{WIDTH}}] {counted}{left}", end="", file=self._stream, flush=True)

    def end(self) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=self._stream, flush=True)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{number(seconds / 3600, '.1f')} h"
