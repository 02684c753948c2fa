"""The text of a submission as Python runs it, and what its line numbers mean to whoever wrote it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

from grader.magics import as_python
from grader.notebook import SUFFIX, Notebook, NotebookUnreadable, read_notebook
from grader.percent import Cell, join
from lab.language import _

MAX_SOURCE_BYTES = 1_000_000
MAX_NOTEBOOK_BYTES = 10_000_000  # its outputs may hold pictures
MAX_LEFT_OUT = 3
_NOT_DEFINED = re.compile(r"name '(\w+)' is not defined")


class Unreadable(Exception):
    """There is no source to run in the file; the message is for the learner."""


@dataclass(frozen=True)
class Source:
    """A submission's code."""

    text: str
    file: str = ""
    """The file's name, as messages give it."""
    cells: tuple[Cell, ...] = ()
    """Of a notebook, all of its cells as plain Python."""
    starts: tuple[int, ...] = ()
    """For each cell, the line of `text` that it begins on."""
    left_out: tuple[str, ...] = ()
    """The lines that only Jupyter runs, and where they stand."""

    def explained(self, message: str) -> str:
        """A message about a notebook with cells in place of line numbers, and what may have been the reason."""
        if not self.cells:
            return message
        line = re.compile(rf'(?:File ")?{re.escape(self.file)}"?, line (\d+)')
        return "\n".join(
            [line.sub(lambda found: f"{self.file}, {self.place(int(found[1]))}", message), *self._why(message)]
        )

    def place(self, line: int) -> str:
        """Where a line of the text stands in the notebook."""
        cell = max(bisect_right(self.starts, line), 1)
        return _("cell {cell}, line {line}", cell=cell, line=max(line - self.starts[cell - 1] + 1, 1))

    def _why(self, message: str) -> list[str]:
        why = []
        code = "\n".join(cell.source for cell in self.cells if cell.kind == "code")
        for name in dict.fromkeys(_NOT_DEFINED.findall(message)):
            if defined := self._cells_that_define(name):
                why.append(
                    _(
                        "Cells are run from the first to the last, and `{name}` is only defined in cell "
                        "{defined}: move that cell up.",
                        name=name,
                        defined=defined[0],
                    )
                )
            elif name == "get_ipython":
                why.append(_("get_ipython() is there only in Jupyter: take it out of the code that is checked."))
        if "google.colab" in message and "google.colab" in code:
            why.append(_("google.colab is there only in Colab: take it out of the code that is checked."))
        shown = self.left_out[:MAX_LEFT_OUT]
        if shown:
            more = (
                _(", and {count} more", count=len(self.left_out) - len(shown))
                if len(self.left_out) > len(shown)
                else ""
            )
            why.append(_("Left out, since only Jupyter runs it: {list}{more}.", list="; ".join(shown), more=more))
        return why

    def _cells_that_define(self, name: str) -> list[int]:
        definition = re.compile(rf"^(?:def|class) {name}\b|^{name}\s*=|^(?:from .+ )?import .*\b{name}\b", re.MULTILINE)
        return [
            number
            for number, cell in enumerate(self.cells, 1)
            if cell.kind == "code" and definition.search("\n".join(line[:200] for line in cell.source.split("\n")))
        ]


def max_bytes(path: Path) -> int:
    """How much of a file is read to grade it."""
    return MAX_NOTEBOOK_BYTES if path.suffix == SUFFIX else MAX_SOURCE_BYTES


def read_source(path: Path, data: bytes) -> Source:
    """The code in a submission, a Python file or a notebook. Raises Unreadable."""
    name = path.name
    if len(data) > max_bytes(path):
        what = _("Clear its outputs, and submit") if path.suffix == SUFFIX else _("Submit")
        raise Unreadable(
            _(
                "{name} is larger than {most:g} MB. {what} only the exercise itself.",
                name=name,
                most=max_bytes(path) / 1e6,
                what=what,
            )
        )
    if path.suffix == SUFFIX:
        try:
            return source_of(read_notebook(data, name), name)
        except NotebookUnreadable as error:
            raise Unreadable(str(error)) from error
    try:
        return Source(data.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(
            _("{name} isn't UTF-8 text (line {line}). Save it with the encoding UTF-8.", name=name, line=line)
        ) from error


def source_of(notebook: Notebook, name: str) -> Source:
    """The code of a notebook, its cells in the order in which they stand."""
    cells, left_out = [], []
    for number, cell in enumerate(notebook.cells, 1):
        if cell.kind == "code":
            python, unrun = as_python(cell.source)
            cells.append(Cell("code", python))
            left_out += [
                _("`{text}` (cell {number}, line {line})", text=each.text[:60], number=number, line=each.line)
                for each in unrun
            ]
        else:
            cells.append(cell)
    text, starts = join(cells)
    if len(text.encode("utf-8", "replace")) > MAX_SOURCE_BYTES:
        raise Unreadable(
            _(
                "The code in {name} is larger than {most:g} MB. Submit only the exercise.",
                name=name,
                most=MAX_SOURCE_BYTES / 1e6,
            )
        )
    if "display(" in text:
        text = f"display = print  # as in Jupyter\n{text}"
        starts = [start + 1 for start in starts]
    return Source(text, name, tuple(cells), tuple(starts), tuple(left_out))
