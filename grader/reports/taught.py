"""Where the course teaches something: the titles of its lessons, cards and exercises, read from their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.lesson_files import number_and_id, split
from grader.lint.places import THIS_COURSE


@dataclass(frozen=True)
class Place:
    """A card or an exercise, and the lesson that it is part of."""

    lesson: int
    lesson_title: str
    title: str


def place_of(step: str, language: str = "en") -> Place | None:
    """The place of `<lesson>/<card or exercise>`; None if the course's texts have no such step."""
    return _places(THIS_COURSE.lessons, language).get(step)


@cache
def _places(lessons: Path, language: str) -> Mapping[str, Place]:
    places = {}
    for folder in sorted(lessons.glob("*")):
        known = number_and_id(folder)
        texts = [folder / f"{each}.md" for each in (language, "en")]
        text = next((file for file in texts if file.is_file()), None)
        if known is None or text is None:
            continue
        number, lesson = known
        parts = split(text.read_text(encoding="utf-8"))
        for section in parts.sections:
            places[f"{lesson}/{section.name}"] = Place(number, parts.title, section.title)
    return places
