"""The app's end: everything is kept, also where it can't be saved in its place or the terminal is gone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from course.app.attention import Attention
from course.app.screens.base import CourseScreen
from lab.language import _

if TYPE_CHECKING:
    from textual.document._history import EditHistory

    from course.app.grading import Grader
    from course.workspace import Workspace


class Leaving(Attention):
    """The part of the app that ends it."""

    workspace: Workspace
    histories: dict[str, tuple[str, EditHistory, str | None]]
    _grader: Grader | None
    _quit_all_the_same = False
    _signals: contextlib.ExitStack | None = None
    """Gives back the signals to end, which are heard while the app runs."""

    def end_when_told(self) -> None:
        """From now on, a signal to end keeps everything first."""
        if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
            return
        heard, wake = os.pipe()
        os.set_blocking(wake, False)
        told = {number for name in ("SIGHUP", "SIGTERM", "SIGINT") if (number := getattr(signal, name, None))}
        self._signals = contextlib.ExitStack()
        self._signals.callback(os.close, wake)  # upon which nobody listens any more
        self._signals.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(wake, warn_on_full_buffer=False))
        for number in told:
            before = signal.signal(number, lambda *_: None)
            self._signals.callback(signal.signal, number, signal.SIG_DFL if before is None else before)
        # No handler of Python's or of the event loop's: the main thread, which runs both, may wait for ever to draw on
        # a terminal that is gone.
        loop = asyncio.get_running_loop()
        threading.Thread(target=_listen, args=(heard, told, loop, self.told_to_end), daemon=True).start()

    def end_no_more_when_told(self) -> None:
        """Give the signals back to whoever had them before."""
        if self._signals is not None:
            self._signals.close()

    def told_to_end(self) -> None:
        """The terminal was closed or the system ends the program: keep everything, then go."""
        self._leave_screens()
        self._rescue(self._unsaved())
        if self._grader is not None:
            self._grader_task = asyncio.get_running_loop().create_task(self._grader.close())
        _go_in_any_case()
        self.exit()

    async def action_quit(self) -> None:
        self._leave_screens()
        unsaved = self._unsaved()
        if unsaved and not self._quit_all_the_same:
            self._quit_all_the_same = True
            self.notify(
                _(
                    "What you typed can't be saved where it belongs. Ctrl+Q once more puts a copy into the folder for "
                    "temporary files and leaves."
                ),
                title=_("Not saved"),
                severity="error",
                timeout=15,
            )
            return
        self.exit(message=self._rescue(unsaved))

    def _unsaved(self) -> list[tuple[str, str]]:
        """The files, and the texts that could not be saved in them, of all screens that were left."""
        left = self.histories.items()
        return [(self.workspace.path(step).name, text) for step, (text, _, replaces) in left if replaces is not None]

    def _rescue(self, unsaved: list[tuple[str, str]]) -> str | None:
        """Write what can't be saved where it belongs into the folder for temporary files; say where."""
        told = []
        for name, text in unsaved:
            with contextlib.suppress(OSError):
                handle, path = tempfile.mkstemp(prefix="profile-first-", suffix=f"-{Path(name).name}")
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                told.append(_("What you typed in {name} is kept as {path}.", name=name, path=path))
        return "\n".join(told) or None

    def _leave_screens(self) -> None:
        self.keep_time()
        for screen in self.screen_stack:
            if isinstance(screen, CourseScreen) and screen.is_mounted:
                screen.leave()


def _listen(heard: int, numbers: set[int], loop: asyncio.AbstractEventLoop, told_to_end: Callable[[], None]) -> None:
    """Wait in a thread of its own for one of the signals, whose numbers arrive in a pipe."""
    while received := os.read(heard, 64):
        if not numbers.isdisjoint(received):
            _go_in_any_case()
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(told_to_end)
    os.close(heard)


def _go_in_any_case() -> None:
    """End in a second: an orderly end may wait for ever for a terminal that is gone, and the event loop with it."""
    last_resort = threading.Timer(1.0, os._exit, (0,))
    last_resort.daemon = True
    last_resort.start()
