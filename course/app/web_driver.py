"""Textual's driver for a browser, for an app that keeps everything when its page is gone."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import Any

from textual.app import App
from textual.drivers.web_driver import WebDriver


class CourseWebDriver(WebDriver):
    """Draws in packets to the server, on a channel that nothing else can write to."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        # One byte that isn't a packet's would freeze the page for good. So the channel gets a number of its own, which
        # children don't inherit; what they or a library print goes where errors go.
        self.fileno = os.dup(self.fileno)
        self._write = partial(_write_all, self.fileno)
        os.dup2(2, 1)
        self._loop = asyncio.get_running_loop()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        if packet_type == "quit":
            self._page_is_gone()
        else:
            super().on_meta(packet_type, payload)

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():  # the server has ended without a word
            self._page_is_gone()

    def _page_is_gone(self) -> None:
        if (keep_and_end := getattr(self._app, "told_to_end", None)) is not None:
            self._loop.call_soon_threadsafe(keep_and_end)


def _write_all(channel: int, data: bytes) -> int:
    """Write all of it: a pipe may take only a part."""
    written = 0
    while written < len(data):
        written += os.write(channel, data[written:])
    return written
