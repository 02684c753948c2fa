"""French prose has its no-break spaces: a mark or a unit at the beginning of a line is no French."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.lesson_files import outside_code, read_order
from grader.lint.places import Course

NO_BREAK, NARROW_NO_BREAK = "\u00a0", "\u202f"
UNITS = "ms|µs|us|s|%|Go|Mo|MiB|bits"
_CODE = re.compile(r"`[^`]*`|\{[^{}]*\}|https?://\S+")
_PLACEHOLDER = "\ufffc"
"""Stands for code and for what a check fills in, which have their own rules."""
_FAULTS = (
    (rf"(?:[^\W\d_]|[\d)»{_PLACEHOLDER}])[ {NO_BREAK}]?[;!?](?!\S)", "U+202F before it"),
    (rf"\S[ {NARROW_NO_BREAK}]:(?!\S)|[^\W\d_]:(?!\S)", "U+00A0 before it"),
    (rf"«[^{NO_BREAK}]|[^{NO_BREAK}]»", "U+00A0 inside of « »"),
    (rf"[\d{_PLACEHOLDER}] (?:{UNITS})(?![\w'])", "U+00A0 between a number and its unit"),
    (r"\d\.\d+ (?=\w)|\d\.\d+" + NO_BREAK, "a decimal comma"),
)


def complaints(course: Course) -> Iterator[str]:
    texts = (*course.lessons.glob("*/fr.md"), *course.exercises.glob("*/tasks.fr.md"))
    for file in (*sorted(texts), course.glossary / "fr.md"):
        for number, line in _prose(file):
            for fault in faults(line):
                yield f"{course.name(file)}:{number}: {fault}"
    quizzes = (*course.exercises.glob("*/quiz.fr.toml"), *course.solutions.glob("*/quiz.fr.toml"))
    for file in (*sorted(quizzes), course.misconceptions.with_suffix(".fr.toml")):
        for text in _texts(file):
            for fault in faults(text):
                yield f"{course.name(file)}: {fault}"


def faults(text: str) -> Iterator[str]:
    """What isn't French in a piece of prose, each with what to write."""
    prose = _CODE.sub(_PLACEHOLDER, text)
    for pattern, wanted in _FAULTS:
        for match in re.finditer(pattern, prose):
            around = prose[max(match.start() - 12, 0) : match.end()].replace(_PLACEHOLDER, "…").strip()
            yield f"{around!r} isn't set as French is. Write {wanted}."


def _prose(file: Path) -> Iterator[tuple[int, str]]:
    """The lines to be read, predictions too, each with its number; code within a line may end in the next one."""
    try:
        lines = list(outside_code(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):  # there is no such text, or the rules about lessons name it
        return
    asked, inside = False, False
    for number, (line, is_prose) in enumerate(lines, 1):
        asked = line == "```predict" or (asked and not is_prose and line != "```")
        if (is_prose or asked) and not line.startswith("```"):
            text = "`" + line if inside else line
            inside = text.count("`") % 2 == 1 and line != ""
            yield number, text + "`" if inside else text


def _texts(file: Path) -> Iterator[str]:
    try:
        read = read_order(file)
    except (OSError, ValueError):
        return
    yield from _strings(read)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
