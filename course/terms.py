"""The glossary: the field's words, each with the card that teaches it, read from `course/glossary`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from course import folders
from course.catalog import Catalog, CatalogError, Step
from grader import lesson_files
from lab.language import ENGLISH, _, current


@dataclass(frozen=True)
class Term:
    """A word of the field."""

    id: str
    title: str
    forms: tuple[str, ...]
    """The spellings by which it is found in the course; the first one is the title."""
    text: str
    """Markdown."""
    card: str
    """The card that teaches it, `<lesson>/<card>`."""


def load(folder: Path = folders.GLOSSARY, language: str | None = None) -> tuple[Term, ...]:
    """All terms in the order of the alphabet, in the language that is spoken; one that it lacks is in English."""
    language = language or current()
    cards_file, text_file = folder / "glossary.toml", folder / f"{language}.md"
    try:
        cards = lesson_files.read_order(cards_file)
        sections = _sections(text_file)
        if language != ENGLISH and len(sections) < len(cards):
            sections = {**_sections(folder / f"{ENGLISH}.md"), **sections}
    except OSError as error:
        raise CatalogError(
            _("{file}: {reason}. Install profile-first again.", file=error.filename, reason=error.strerror)
        ) from error
    except ValueError as error:
        raise CatalogError(f"{folder}: {error}") from error
    terms = []
    for section in sections.values():
        if not isinstance(card := cards.get(section.name), str):
            raise CatalogError(f"{cards_file}: {section.name!r} of {text_file.name} has no card. Add it.")
        forms = lesson_files.forms_of(section.title)
        terms.append(Term(section.name, forms[0], forms, section.body, card))
    return tuple(sorted(terms, key=lambda term: lesson_files.alphabetical(term.title)))


def _sections(file: Path) -> dict[str, lesson_files.Section]:
    if not file.is_file() and file.stem != ENGLISH:
        return {}
    return {section.name: section for section in lesson_files.split(file.read_text("utf-8")).sections}


def used_in(terms: Iterable[Term], text: str) -> list[Term]:
    """The terms that a text uses, in the order in which they come up."""
    found = [(at, term) for term in terms if (at := _first(term, text)) is not None]
    return [term for _at, term in sorted(found, key=lambda pair: pair[0])]


def _first(term: Term, text: str) -> int | None:
    return min((match.start() for form in term.forms if (match := _pattern(form).search(text))), default=None)


def _pattern(form: str) -> re.Pattern[str]:
    # `re` keeps the compiled patterns of its last 512 calls.
    return re.compile(lesson_files.form_pattern(form), re.IGNORECASE)


def first_used(terms: Iterable[Term], lessons: Catalog) -> Mapping[str, list[Term]]:
    """For each step, the terms that come up there for the first time in the course."""
    new, firsts = list(terms), dict[str, list[Term]]()
    for lesson in lessons.lessons:
        for step in lesson.steps:
            firsts[step.id] = used_in(new, words_of(step))
            new = [term for term in new if term not in firsts[step.id]]
    return firsts


def words_of(step: Step) -> str:
    """All that a step says before it is answered or run."""
    asked = step.prediction
    return "\n".join([step.title, *([asked.question, *asked.choices] if asked else []), step.text])
