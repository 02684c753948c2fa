"""One tab's app: a process whose standard input and output are packets, to and from the page's WebSocket."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

DRIVER = "course.app.web_driver:CourseWebDriver"
PRELUDE = b"__GANGLION__\n"  # what Textual's driver writes once it takes packets
MOST_LINES_BEFORE = 10
ENDS_WITHIN_S = 5.0
NOT_THE_PAGES = ("TMUX", "TMUX_PANE", "STY", "TEXTUAL_DEBUG")
"""Variables of the terminal in which the server was started; the page's terminal is another one."""


class Session(AppService):
    """An app in a process of its own, which ends with the page that shows it."""

    def __init__(self, command: Sequence[str], websocket: web.WebSocketResponse, downloads: DownloadManager) -> None:
        super().__init__(
            shlex.join(command),
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=self._close_page,
            download_manager=downloads,
        )
        self._arguments = list(command)
        self._websocket = websocket

    async def _close_page(self) -> None:
        await self._websocket.close()

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        environment = super()._build_environment(width, height)
        for name in NOT_THE_PAGES:
            environment.pop(name, None)
        return {**environment, "TEXTUAL_DRIVER": DRIVER}

    async def _open_app_process(self, width: int = 80, height: int = 24) -> asyncio.subprocess.Process:
        # A session of its own: Ctrl+C in the server's terminal ends the server, which then ends its apps in order.
        self._process = process = await asyncio.create_subprocess_exec(
            *self._arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._build_environment(width, height),
            start_new_session=True,
        )
        self._stdin = process.stdin
        return process

    async def run(self) -> None:
        """Pass on what the app draws until it ends; then say so to the page."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        assert process.stderr is not None
        complaints = asyncio.create_task(process.stderr.read())
        try:
            await self._pass_on(process.stdout)
        except (asyncio.IncompleteReadError, ConnectionError, RuntimeError):
            # It has ended, or the page is gone. Then what it still draws is thrown away, or it could never end.
            while await process.stdout.read(1 << 16):
                pass
        exit_code = await process.wait()
        with suppress(ConnectionError, RuntimeError):
            if exit_code > 0 and (said := (await complaints).decode("utf-8", "replace").strip()):
                print(said, file=sys.stderr)
                await self.remote_write_bytes(b"\x1b[?1049l\x1b[2J\x1b[H" + said.replace("\n", "\r\n").encode())
            await self.remote_close()

    async def _pass_on(self, stdout: asyncio.StreamReader) -> None:
        for _ in range(MOST_LINES_BEFORE):
            if (line := await stdout.readline()) == PRELUDE:
                break
            if not line:
                return
        while True:
            kind = await stdout.readexactly(1)
            payload = await stdout.readexactly(int.from_bytes(await stdout.readexactly(4), "big"))
            if kind == b"D":
                await self.on_data(payload)
            elif kind == b"M":
                await self.on_meta(payload)
            elif kind == b"P":
                await self.on_packed(payload)

    async def stop(self) -> None:
        """Ask the app to end, and end it."""
        process = self._process
        if process is None:
            return
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(super().stop(), ENDS_WITHIN_S)
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        await process.wait()
        self._process = None
