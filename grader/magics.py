"""Turns the code of a notebook's cell into plain Python: magics, shell lines and questions become comments.

At the beginning of a statement none of these is Python, so only statements have to be told apart. That is done here in
one pass over the characters: the code is a stranger's, and Python's own parser can be brought down with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Cell magics whose body is Python that runs in the notebook's own namespace.
RUNS_ITS_BODY = {"capture", "prun", "time"}

_CELL_MAGIC = re.compile(r"\s*%%(\w*)")
_TIMED = re.compile(r"(\s*)%time\s+(?=[^\s-])")
_ONLY_IN_JUPYTER = re.compile(r"\s*[%!?]")
_ASSIGNED = re.compile(r"\s*[A-Za-z_][\w.]*(?:\s*,\s*[A-Za-z_][\w.]*)*\s*=\s*[%!]")
_ASKED = re.compile(r"\s*%{0,2}[A-Za-z_][\w.]*\?{1,2}\s*")
_SIGN = re.compile(r"\"{3}|'{3}|[\"'#()\[\]{}]")


@dataclass(frozen=True)
class LeftOut:
    """A line that only Jupyter runs, by its number within the cell."""

    line: int
    text: str


def as_python(source: str) -> tuple[str, list[LeftOut]]:
    """The cell with as many lines, all of them Python, and what was left out of it."""
    lines = source.split("\n")
    left_out: list[LeftOut] = []
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    at = 0
    if magic := _CELL_MAGIC.match(lines[first]):
        if magic[1] not in RUNS_ITS_BODY:
            return "\n".join(map(_comment, lines)), [LeftOut(first + 1, lines[first].strip())]
        lines[first] = _comment(lines[first])
        at = first + 1
    reading = _Reading()
    while at < len(lines):
        line = lines[at]
        if reading.between_statements:
            timed = _TIMED.match(line)
            if timed:
                line = lines[at] = timed[1] + line[timed.end() :]
            elif _ONLY_IN_JUPYTER.match(line) or _ASSIGNED.match(line) or _ASKED.fullmatch(line):
                left_out.append(LeftOut(at + 1, line.strip()))
                lines[at] = _placeholder(line)
                while line.endswith("\\") and at + 1 < len(lines):
                    at += 1
                    line = lines[at]
                    lines[at] = _comment(line)
                at += 1
                continue
        reading.take(line)
        at += 1
    return "\n".join(lines), left_out


def _comment(line: str) -> str:
    return f"# {line}" if line.strip() else line


def _placeholder(line: str) -> str:
    """A comment for a statement; inside of a block a `pass` keeps its place."""
    indent, text = line[: len(line) - len(line.lstrip())], line.strip()
    return f"{indent}pass  # {text}" if indent else f"# {text}"


class _Reading:
    """Where in Python code one is after each line: inside of brackets, of a string, or between two statements."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._continued = False

    @property
    def between_statements(self) -> bool:
        return not self._depth and not self._quote and not self._continued

    def take(self, line: str) -> None:
        at, commented = 0, False
        while at < len(line) and not commented:
            if self._quote:
                at = self._after_string(line, at)
                continue
            sign = _SIGN.search(line, at)
            if sign is None:
                break
            at = sign.end()
            if sign[0] == "#":
                commented = True
            elif sign[0] in "([{":
                self._depth += 1
            elif sign[0] in ")]}":
                self._depth = max(self._depth - 1, 0)
            else:
                self._quote = sign[0]
        self._continued = line.endswith("\\") and not commented
        if len(self._quote) == 1 and not self._continued:
            self._quote = ""  # it isn't closed: an error that Python will tell about

    def _after_string(self, line: str, at: int) -> int:
        while at < len(line):
            if line[at] == "\\":
                at += 2
            elif line.startswith(self._quote, at):
                at += len(self._quote)
                self._quote = ""
                return at
            else:
                at += 1
        return at
