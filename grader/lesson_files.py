"""A lesson's files as data: the order of its steps, and its text cut into sections, briefs and hints.

The course makes typed steps of it and the lint looks for what is missing; so it lies below both, and imports nothing
that takes time.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

StepKind = Literal["card", "exercise", "quiz", "recap"]
KINDS: tuple[StepKind, ...] = ("card", "exercise", "quiz", "recap")

_FOLDER = re.compile(r"^(?P<number>\d+)_(?P<lesson>[a-z][a-z0-9_]*)$")
_SECTION = re.compile(r"^## +(?P<title>.+?) *\{#(?P<name>[\w-]+)\} *$")
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
_HINT = re.compile(r"^### +Hint\b.*$")


class Section(msgspec.Struct, frozen=True):
    """What a text says under one `## Title {#name}`."""

    name: str
    title: str
    body: str

    def split_hints(self) -> tuple[str, tuple[str, ...]]:
        """The brief, and the hints that follow it."""
        parts: list[list[str]] = [[]]
        for line, is_prose in outside_code(self.body):
            if is_prose and _HINT.match(line):
                parts.append([])
            else:
                parts[-1].append(line)
        brief, *hints = ("\n".join(part).strip() for part in parts)
        return brief, tuple(hints)


class Text(msgspec.Struct, frozen=True):
    """A text of sections: what stands before them, and each of them in order."""

    title: str
    opening: str
    """What stands between the title and the first section, in one line."""
    sections: tuple[Section, ...]


def number_and_id(folder: Path) -> tuple[int, str] | None:
    """What a lesson's folder says of it, `<number>_<lesson>`; None if it isn't the name of one."""
    match = _FOLDER.match(folder.name)
    return (int(match["number"]), match["lesson"]) if match else None


def read_order(file: Path) -> dict[str, Any]:
    """What a lesson.toml says. Raises OSError, or ValueError with what is wrong in it."""
    try:
        order: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return order


def kind_and_name(entry: dict[str, Any]) -> tuple[StepKind, str] | None:
    """The kind and the name of a step of lesson.toml; None unless it has exactly one."""
    kinds = [kind for kind in KINDS if isinstance(entry.get(kind), str)]
    return (kinds[0], entry[kinds[0]]) if len(kinds) == 1 else None


def split(text: str) -> Text:
    """A text's title and sections; what looks like a heading inside of a fenced block is none."""
    title, opening = "", list[str]()
    heads: list[tuple[str, str]] = []
    bodies: list[list[str]] = []
    for line, is_prose in outside_code(text):
        match = _SECTION.match(line) if is_prose else None
        if match:
            heads.append((match["name"], match["title"]))
            bodies.append([])
        elif bodies:
            bodies[-1].append(line)
        elif line.startswith("# ") and not title:
            title = line[2:].strip()
        else:
            opening.append(line)
    sections = tuple(
        Section(name, head, "\n".join(body).strip()) for (name, head), body in zip(heads, bodies, strict=True)
    )
    return Text(title, unwrap("\n".join(opening)), sections)


def unwrap(text: str) -> str:
    """A paragraph in one line. No-break spaces, as French has them before `:` and `?`, stay what they are."""
    return re.sub(r"[ \t\r\n]+", " ", text).strip(" ")


def alphabetical(title: str) -> str:
    """The key that sorts titles as a reader does, `é` beside `e` and not after `z`."""
    letters = unicodedata.normalize("NFD", title.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def forms_of(title: str) -> tuple[str, ...]:
    """The spellings of a term of the glossary, which its title gives with commas between."""
    return tuple(form.strip() for form in title.split(","))


def form_pattern(form: str) -> str:
    """Where a spelling stands in a text: at the beginning of a word, whatever its ending and its line breaks."""
    words = r"\s+".join(re.escape(word) for word in form.split())
    return rf"(?<!\w){words}" if form[0].isalnum() else words


def outside_code(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is prose (True) or part of a fenced block (False)."""
    fence = ""
    for line in text.splitlines():
        match = _FENCE.match(line)
        if fence:
            yield line, False
            if _closes(line, fence):
                fence = ""
        elif match:
            fence = match["mark"]
            yield line, False
        else:
            yield line, True


def unclosed_fence(text: str) -> int | None:
    """The line, counted from 1, that begins a fenced block which has no end."""
    fence, begun = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        match = _FENCE.match(line)
        if fence:
            if _closes(line, fence):
                fence = ""
        elif match:
            fence, begun = match["mark"], number
    return begun if fence else None


def _closes(line: str, fence: str) -> bool:
    match = _FENCE.match(line)
    return match is not None and match["mark"].startswith(fence) and not match["info"].strip()
