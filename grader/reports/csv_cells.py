"""Writes CSV that a spreadsheet opens without running any of it.

A text that could be a formula gets an apostrophe before it, as OWASP advises: at the begin of a cell, behind spaces,
and behind each line end, tab and semicolon, where a spreadsheet may begin a new cell (one of a country with decimal
commas does at semicolons, quoted or not).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from grader.reports.characters import plain

Cell = str | int | float | None

# Inside of a class of a regular expression: = + - @, the same in full width and as small forms, and the minus sign.
STARTS_A_FORMULA = "=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
_FORMULA = re.compile(rf"(^|[;\n\t])(?=\s*[{STARTS_A_FORMULA}])")
_LEADING_BLANK = re.compile(r"^(?=[\t\n])")
BYTE_ORDER_MARK = "\ufeff"


def defused(text: str) -> str:
    """The text as no spreadsheet runs it."""
    text = _FORMULA.sub(r"\1'", plain(text))
    return _LEADING_BLANK.sub("'", text)


def number(value: float) -> str:
    """A number of points as every gradebook reads it: a decimal point, at most two digits behind it."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def as_csv(rows: Iterable[Sequence[Cell]], *, mark: bool = False) -> bytes:
    """The rows as UTF-8, with a byte order mark if asked for, by which Excel knows it."""
    text = io.StringIO()
    writer = csv.writer(text)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return ((BYTE_ORDER_MARK if mark else "") + text.getvalue()).encode()


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    return defused(value) if isinstance(value, str) else number(value)
