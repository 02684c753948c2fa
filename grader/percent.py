"""The percent format: Python files whose cells begin with `# %%`, as Jupytext and VS Code read and write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["code", "markdown", "raw"]

# "# %%time" is a magic that was commented out, not a marker: a marker ends after its signs or goes on with a space.
_MARKER = re.compile(r"#\s*%%%*(?:\s+(?P<rest>.*))?")
_KIND = re.compile(r"\[(?P<kind>markdown|md|raw)\]")
_QUOTED = re.compile(r'\s*[rR]?(?P<quote>"""|\'\'\')(?P<text>.*?)(?P=quote)\s*', re.DOTALL)


@dataclass(frozen=True)
class Cell:
    """One cell: code, or text."""

    kind: Kind
    source: str


def split(text: str) -> list[Cell]:
    """The cells of a file. What stands before the first marker is a code cell, if it is anything."""
    found: list[tuple[Kind, list[str]]] = [("code", [])]
    for line in text.splitlines():
        marker = _MARKER.fullmatch(line)
        if marker is None:
            found[-1][1].append(line)
        else:
            found.append((_kind(marker["rest"] or ""), []))
    if not "".join(found[0][1]).strip():
        del found[0]
    return [Cell(kind, _body(kind, lines)) for kind, lines in found]


def join(cells: Iterable[Cell]) -> tuple[str, list[int]]:
    """The cells as a file, and for each of them the number of the line in it that its source begins on."""
    lines: list[str] = []
    starts = []
    for cell in cells:
        if lines:
            lines.append("")
        lines.append("# %%" if cell.kind == "code" else f"# %% [{cell.kind}]")
        starts.append(len(lines) + 1)
        source = cell.source.split("\n")
        lines += source if cell.kind == "code" else [f"# {line}".rstrip() for line in source]
    return "\n".join([*lines, ""]), starts


def _kind(rest: str) -> Kind:
    found = _KIND.search(rest)
    if found is None:
        return "code"
    return "raw" if found["kind"] == "raw" else "markdown"


def _body(kind: Kind, lines: list[str]) -> str:
    text = "\n".join(lines).strip("\n")
    if kind == "code":
        return text
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        return quoted["text"].strip("\n")
    return "\n".join(
        line.removeprefix("#").removeprefix(" ") if line.startswith("#") else line for line in lines
    ).strip("\n")
