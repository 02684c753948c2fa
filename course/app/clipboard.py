"""Copying: to the terminal's clipboard, also over ssh, to tmux, and to the system's where there is one."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping, Sequence

from textual.app import App

from lab.language import _

AT_MOST_S = 3.0


class Clipboard(App[None]):
    """The part of the app that copies."""

    def copy_to_clipboard(self, text: str) -> None:
        # The terminal is asked in any case (OSC 52): over ssh it is the only one that is where the learner is.
        super().copy_to_clipboard(text)
        self.run_worker(self._copy_by_programs(text), group="copy", exclusive=True, exit_on_error=False)

    async def _copy_by_programs(self, text: str) -> str:
        if self.is_web:
            return _("Copied, if your browser lets pages copy.")
        commands = copiers(os.environ, sys.platform)
        copied = [command[0] for command in commands if await _copy_by(command, text)]
        if [name for name in copied if name != "tmux"]:
            return _("Copied.")
        if copied:
            return _("Copied in tmux, and beyond if your terminal lets programs copy.")
        return _("Copied, if your terminal lets programs copy.")

    def copy(self, text: str) -> None:
        """Copy text and say so, as far as that is known."""
        super().copy_to_clipboard(text)
        self.run_worker(self._copy_and_say(text), group="copy", exclusive=True, exit_on_error=False)

    async def _copy_and_say(self, text: str) -> None:
        self.notify(await self._copy_by_programs(text), timeout=3, markup=False)


def copiers(environment: Mapping[str, str], platform: str) -> list[Sequence[str]]:
    """The commands that copy what they read, of those that are there."""
    known: list[tuple[bool, Sequence[str]]] = [
        (bool(environment.get("TMUX")), ("tmux", "load-buffer", "-w", "-")),
        (platform == "darwin", ("pbcopy",)),
        (bool(environment.get("WAYLAND_DISPLAY")), ("wl-copy",)),
        (bool(environment.get("DISPLAY")), ("xclip", "-selection", "clipboard")),
        (bool(environment.get("DISPLAY")), ("xsel", "--clipboard", "--input")),
        ("WSL_DISTRO_NAME" in environment, ("clip.exe",)),
    ]
    path = environment.get("PATH")
    return [command for applies, command in known if applies and shutil.which(command[0], path=path)]


async def _copy_by(command: Sequence[str], text: str) -> bool:
    """Whether the command has taken the text."""
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=nothing, stderr=nothing, start_new_session=True
        )
    except OSError:
        return False
    try:
        await asyncio.wait_for(process.communicate(text.encode()), AT_MOST_S)
    except asyncio.TimeoutError:
        process.kill()
        return False
    return process.returncode == 0
