"""A request to stop, made by one thread and waited for by another."""

from __future__ import annotations

import os
from contextlib import suppress


class Cancellation:
    """Once cancelled it stays so, and its file descriptor stays readable: nothing can miss it."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self.cancelled = False

    def fileno(self) -> int:
        return self._read

    def cancel(self) -> None:
        if not self.cancelled:
            self.cancelled = True
            os.write(self._write, b"!")

    def __del__(self) -> None:
        with suppress(OSError, AttributeError):
            os.close(self._read)
            os.close(self._write)
