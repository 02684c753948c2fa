"""A real program in a pseudo-terminal, which keys are pressed in and whose screen is read."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from fcntl import ioctl
from pathlib import Path

from tests.course.drawn import Drawn

PATIENCE_S = 60
KEYS = {
    "f3": "\x1bOR",
    "f5": "\x1b[15~",
    "f6": "\x1b[17~",
    "escape": "\x1b",
    "enter": "\r",
    "ctrl+a": "\x01",
    "ctrl+n": "\x0e",
    "ctrl+q": "\x11",
    "ctrl+home": "\x1b[1;5H",
    "shift+down": "\x1b[1;2B",
    "end": "\x1b[F",
    "backspace": "\x7f",
}


class RealTerminal:
    """The course, or another program, in a pseudo-terminal."""

    def __init__(
        self,
        home: Path,
        *,
        command: Sequence[str] = (sys.executable, "-m", "course"),
        columns: int = 80,
        rows: int = 24,
        **more: str,
    ) -> None:
        self._ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "PROFILE_FIRST_HOME": str(home), **more}
        self.process = subprocess.Popen(
            list(command),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self._drawn = Drawn(columns, rows)
        self.sent = b""
        """Everything that the program has sent to the terminal."""

    @property
    def text(self) -> str:
        """What is on the screen."""
        return self._drawn.text

    def read_until(self, text: str) -> None:
        """Read what is drawn until `text` is on the screen."""
        self.read_while(lambda: text not in self.text, f"{text!r} is never shown")

    def read_while(self, holds: Callable[[], bool], complaint: str) -> None:
        deadline_s = time.monotonic() + PATIENCE_S
        while holds():
            assert time.monotonic() < deadline_s, f"{complaint}\n{self.text}"
            self._read(1.0)

    def _read(self, within_s: float) -> bool:
        if not select.select([self._ours], [], [], within_s)[0]:
            return False
        data = os.read(self._ours, 65536)
        self.sent += data
        self._drawn.feed(data)
        return True

    def press(self, *keys: str) -> None:
        """Press keys by their name, or type what is no name of one."""
        self._write("".join(KEYS.get(key, key) for key in keys))

    def paste(self, text: str) -> None:
        """Paste as terminals do: between two marks."""
        self._write(f"\x1b[200~{text}\x1b[201~")

    def _write(self, text: str) -> None:
        """Write in parts, and read what is drawn meanwhile, or neither side could go on."""
        data = text.encode()
        while data:
            written = os.write(self._ours, data[:1024])
            data = data[written:]
            self._read(0)

    def exit_code(self) -> int:
        """Read until the program has ended: one whose last frame nobody reads can't end."""
        with contextlib.suppress(OSError):  # there is nothing to read from once it has
            self.read_while(lambda: self.process.poll() is None, "it never ends")
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        """Close the window, as a terminal does it."""
        os.close(self._ours)
