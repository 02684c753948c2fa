"""What an editor of Python does to lines: indent, comment, find, tell which bracket belongs to which."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

Location = tuple[int, int]

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {closing: opening for opening, closing in OPENING.items()}
_STRINGS = re.compile(r"""("{3}|'{3}).*?(?:\1|\Z)|"(?:\\.|[^"\\])*(?:"|\Z)|'(?:\\.|[^'\\])*(?:'|\Z)""")
_BRACKETS = re.compile(r"[()\[\]{}]")
_LEAVES_THE_BLOCK = re.compile(r"\s*(?:return|pass|break|continue|raise)\b")
_MOST_ROWS = 400
"""How far from a bracket its partner is looked for where the code is broken."""


def indent_of(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def code_of(line: str) -> str:
    """A line without its comment, and with nothing in its strings."""
    return _STRINGS.sub('""', line).split("#", 1)[0].rstrip()


def indent_after(before: str, width: int) -> str:
    """The indent of a line that is begun after this text: deeper after a colon or an opening bracket, less deep after a
    statement that leaves the block."""
    indent, code = indent_of(before), code_of(before)
    if code.endswith((":", *OPENING)):
        return indent + " " * width
    brackets = _BRACKETS.findall(code)
    closed = sum(1 if bracket in OPENING else -1 for bracket in brackets) <= 0
    if closed and _LEAVES_THE_BLOCK.match(code) and not code.endswith(("\\", ",")):
        return indent[: max(len(indent) - width, 0)]
    return indent


def columns_to_delete(before: str, width: int) -> int:
    """How much Backspace takes away after this text: within an indent, back to the stop before."""
    if before and not before.strip(" "):
        return (len(before) - 1) % width + 1
    return 1


def indented(lines: Iterable[str], width: int) -> list[str]:
    """The lines one level deeper; lines without text stay empty."""
    return [" " * width + line if line.strip() else line for line in lines]


def dedented(lines: Iterable[str], width: int) -> list[str]:
    """The lines one level less deep, as far as they are indented."""
    return [line[1:] if line.startswith("\t") else line[min(width, len(indent_of(line))) :] for line in lines]


def toggled_comments(lines: Sequence[str]) -> list[str]:
    """The lines as comments, at the indent of the least deep one; if all of them are comments already, as code."""
    with_text = [line for line in lines if line.strip()]
    if not with_text:
        return list(lines)
    if all(line.lstrip().startswith("#") for line in with_text):
        return [re.sub(r"^(\s*)# ?", r"\1", line) for line in lines]
    at = min(len(indent_of(line)) for line in with_text)
    return [f"{line[:at]}# {line[at:]}" if line.strip() else line for line in lines]


def found(lines: Sequence[str], wanted: str, *, exact_case: bool) -> list[tuple[int, int, int]]:
    """Where `wanted` stands in the lines: row, first column and the column after the last."""
    if not wanted:
        return []
    pattern = re.compile(re.escape(wanted), 0 if exact_case else re.IGNORECASE)
    return [(row, hit.start(), hit.end()) for row, line in enumerate(lines) for hit in pattern.finditer(line)]


def unchanged_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines at the beginning, and then at the end, two texts have in common."""
    most = min(len(old), len(new))
    first = next((n for n in range(most) if old[n] != new[n]), most)
    last = next((n for n in range(most - first) if old[-1 - n] != new[-1 - n]), most - first)
    return first, last


def partner(lines: Sequence[str], at: Location, is_code: Callable[[Location], bool]) -> Location | None:
    """The bracket that belongs to the one at a location; brackets that aren't code, as in strings, don't count."""
    row, column = at
    bracket = lines[row][column]
    forward = bracket in OPENING
    rows = range(row, min(row + _MOST_ROWS, len(lines))) if forward else range(row, max(row - _MOST_ROWS, -1), -1)
    opened: list[str] = []
    for each in rows:
        hits = [(hit.start(), hit.group()) for hit in _BRACKETS.finditer(lines[each])]
        for start, found_bracket in hits if forward else reversed(hits):
            if each == row and (start < column if forward else start > column):
                continue
            if not is_code((each, start)):
                continue
            if (found_bracket in OPENING) is forward:
                opened.append(found_bracket)
            elif opened.pop() != (CLOSING if forward else OPENING)[found_bracket]:
                return None
            elif not opened:
                return each, start
    return None
