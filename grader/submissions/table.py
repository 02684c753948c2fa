"""Reads the CSV files that people export and edit: any of the usual encodings, separators and column names."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.errors import GraderError
from lab.language import _

MAX_BYTES = 20_000_000
_SEPARATORS = ",;\t"


class TableUnreadable(GraderError):
    """The file isn't a table with the columns that are needed; the message says what to do."""


@dataclass(frozen=True)
class Line:
    """One line of a table."""

    number: int
    """Where it begins in the file, as editors count."""
    cells: Mapping[str, str]
    """What it says in each column that was asked for and is there."""

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "")


def read_table(path: Path, columns: Mapping[str, Iterable[str]]) -> tuple[list[str], list[Line]]:
    """The columns that were found, and the lines with them. `columns` gives the headings that each may have."""
    wanted = {plain(heading): column for column, headings in columns.items() for heading in headings}
    text = _text(path)
    first, _newline, rest = text.partition("\n")
    skipped = 0
    separators = _SEPARATORS
    if first.strip().casefold().startswith("sep=") and len(first.strip()) == 5:  # Excel's
        text, skipped, separators = rest, 1, first.strip()[4]
    best: tuple[list[str | None], list[Line]] = ([], [])
    for separator in separators:
        found = _parsed(path, text, separator, wanted, skipped)
        if sum(each is not None for each in found[0]) > sum(each is not None for each in best[0]):
            best = found
    return [column for column in best[0] if column is not None], best[1]


def _parsed(
    path: Path, text: str, separator: str, wanted: Mapping[str, str], skipped: int
) -> tuple[list[str | None], list[Line]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    headings: list[str | None] = []
    lines = []
    try:
        began = 1
        for cells in reader:
            number, began = began + skipped, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not headings:
                headings = [wanted.get(plain(cell)) for cell in cells]
                # The first of two columns with the same meaning counts.
                headings = [each if each not in headings[:i] else None for i, each in enumerate(headings)]
                if not any(headings):
                    break
                continue
            named = zip(headings, cells, strict=False)
            lines.append(Line(number, {each: cell.strip() for each, cell in named if each is not None}))
    except csv.Error as error:
        raise TableUnreadable(
            _(
                "{path}, line {line}: {reason}. Export the CSV file again.",
                path=path,
                line=reader.line_num + skipped,
                reason=error,
            )
        ) from error
    return headings, lines


def headings(path: Path) -> str:
    """The first line, to be shown where nothing in it was recognised."""
    first = next((line for line in _text(path).splitlines() if line.strip()), "")
    return "".join(c if unicodedata.category(c)[0] != "C" else " " for c in first)[:200]


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise TableUnreadable(_("{path} can't be read: {reason}.", path=path, reason=error.strerror)) from error
    if len(data) > MAX_BYTES:
        raise TableUnreadable(
            _("{path} is larger than {most_mb:g} MB, so it is no list of a class.", path=path, most_mb=MAX_BYTES / 1e6)
        )
    if data[:2] == b"PK":
        raise TableUnreadable(
            _("{path} is a spreadsheet or an archive. Save the sheet as CSV, and give that file.", path=path)
        )
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        text = _western(data, path, error)
    if "\0" in text:
        raise TableUnreadable(_("{path} isn't text. Save the list as CSV, encoded as UTF-8.", path=path))
    return text


def _western(data: bytes, path: Path, failed: UnicodeDecodeError) -> str:
    """The text as Excel writes it in Western Europe, if what comes of it can be names."""
    line = data.count(b"\n", 0, failed.start) + 1
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = ""
    # Another code page shows as signs between letters: no name has those.
    odd = [
        c for c in text if ord(c) > 126 and unicodedata.category(c) not in ("Ll", "Lu", "Lo", "Pd", "Pf", "Pi", "Zs")
    ]
    if not text or odd:
        raise TableUnreadable(
            _(
                "{path}, line {line}: this isn't UTF-8 text. Save the CSV file with the encoding UTF-8.",
                path=path,
                line=line,
            )
        )
    return text


def plain(text: str) -> str:
    """A heading without capital letters, accents and whatever isn't a letter or digit."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if c.isalnum())
