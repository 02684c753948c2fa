"""The app's end: everything is kept, also where it can't be saved in its place or the terminal is gone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import threading
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

    def told_to_end(self) -> None:
        """The terminal was closed or the system ends the program: keep everything, then go."""
        self._leave_screens()
        self._rescue(self._unsaved())
        if self._grader is not None:
            self._grader_task = asyncio.get_running_loop().create_task(self._grader.close())
        # The terminal may be gone, and an orderly end may then wait for it for ever, the event loop with it.
        last_resort = threading.Timer(1.0, os._exit, (0,))
        last_resort.daemon = True
        last_resort.start()
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
