"""Each term of the glossary is explained, in order, used by the course, and has a card that teaches it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from grader.lesson_files import alphabetical, form_pattern, forms_of, read_order, split
from grader.lint.files import LANGUAGES, read_text
from grader.lint.height import height
from grader.lint.lessons import cards
from grader.lint.places import Course

MOST_LINES = 5


def complaints(course: Course) -> Iterator[str]:
    folder = course.glossary
    if not folder.is_dir():
        return
    order = folder / "glossary.toml"
    try:
        taught_by = read_order(order)
    except (OSError, ValueError) as error:
        yield f"{course.name(order)}: can't be read: {getattr(error, 'strerror', None) or error}. Correct it."
        return
    existing = cards(course)
    for term, card in taught_by.items():
        if card not in existing:
            yield f"{course.name(order)}: {term} = {card!r}, which doesn't exist. Name a card."
    if not (folder / "en.md").is_file():
        yield f"{course.name(folder / 'en.md')}: is missing. Write the terms."
    for language in LANGUAGES:
        file = folder / f"{language}.md"
        if file.is_file():
            yield from _text(course, file, language, taught_by)


def _text(course: Course, file: Path, language: str, taught_by: dict[str, Any]) -> Iterator[str]:
    place = course.name(file)
    text, complaint = read_text(course, file)
    if complaint is not None:
        yield complaint
        return
    sections = split(text).sections
    names = [section.name for section in sections]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{place}: two terms are called {{#{name}}}. Rename one."
    for name in sorted(set(names) - set(taught_by)):
        yield f'{place}: {{#{name}}} has no card. Add {name} = "<lesson>/<card>" to glossary.toml.'
    for name in sorted(set(taught_by) - set(names)):
        yield f"{place}: has no section for {name}. Write '## Term {{#{name}}}' and two or three sentences."
    titles = [forms_of(section.title)[0] for section in sections]
    for title in sorted({each for each in titles if titles.count(each) > 1}):
        yield f"{place}: two terms are spelled {title!r}. Make them one."
    for before, after in pairwise(titles):
        if alphabetical(before) > alphabetical(after):
            yield f"{place}: {after!r} stands after {before!r}. Sort the terms."
    said = "\n".join(each.read_text(encoding="utf-8") for each in course.lessons.glob(f"*/{language}.md"))
    for section in sections:
        if not section.body:
            yield f"{place}: {section.title!r} isn't explained. Write two or three sentences."
        elif (lines := height(section.body)) > MOST_LINES:
            yield f"{place}: {section.title!r} takes {lines} lines. Cut it to {MOST_LINES}."
        if not any(re.search(form_pattern(form), said, re.IGNORECASE) for form in forms_of(section.title)):
            yield f"{place}: no lesson says {section.title!r}. Add the spelling that they use, or remove the term."
