"""What a program has drawn, as a terminal shows it."""

from __future__ import annotations

import codecs

import pyte


class Drawn:
    """A terminal's screen, without the terminal."""

    def __init__(self, columns: int, rows: int) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self._screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> None:
        self._stream.feed(self._decoder.decode(data))

    def resize(self, columns: int, rows: int) -> None:
        self._screen.resize(rows, columns)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """What is on the screen now."""
        return "\n".join(self.lines)
