"""Search over everything that can be read in the course: every step, and every term of the glossary.

Letters are compared without case and accents. A place is found if it has all of the words; what has them in its title
comes first, then what has them beside each other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from course.catalog import Catalog, Step
from course.terms import Term, words_of

_MARKUP = re.compile(r"^#+ |\*\*|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|^\|[-:| ]+\|$")


@dataclass(frozen=True)
class Page:
    """Something to read: a step of a lesson, or a term of the glossary."""

    title: str
    lines: tuple[str, ...]
    lesson: int | None
    """The number of its lesson; None for a term."""
    step: Step | None = None
    term: Term | None = None

    also: str = ""
    """Other spellings of the title, which are searched and not shown."""


@dataclass(frozen=True)
class Found:
    """A page that has all of the words."""

    page: Page
    line: str
    """The line with the most of the words; empty where only the title has them."""
    rank: tuple[float, ...]
    """The smaller, the better."""


class Index:
    """All pages, prepared for being searched at each key."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._pages = [(page, fold(f"{page.title} {page.also}").strip(), [*map(fold, page.lines)]) for page in pages]

    def find(self, query: str) -> list[Found]:
        """The pages that have all words of the query, the best first."""
        words = words_in(query)
        if not words:
            return []
        phrase = " ".join(words)
        found = []
        for number, (page, title, lines) in enumerate(self._pages):
            if all(word in title or any(word in line for line in lines) for word in words):
                at, hits = _best_line(lines, words, phrase)
                in_title = sum(word in title for word in words)
                rank = (
                    fold(page.title) != phrase,
                    -(phrase in title),
                    -_begins_word(phrase, title),
                    -in_title,
                    -hits,
                    number,
                )
                found.append(Found(page, page.lines[at] if hits > 0 else "", rank))
        return sorted(found, key=lambda each: each.rank)


def pages(lessons: Catalog, terms: Sequence[Term]) -> Iterator[Page]:
    """Everything that can be read, the glossary first."""
    for term in terms:
        yield Page(term.title, tuple(_lines(term.text)), None, term=term, also=" ".join(map(_plain, term.forms[1:])))
    for lesson in lessons.lessons:
        for step in lesson.steps:
            said = words_of(step).partition("\n")[2]
            yield Page(step.title, tuple(_lines(said)), lesson.number, step=step)


def _lines(markdown: str) -> Iterator[str]:
    """Paragraphs as one line each, code line by line, all without their markup."""
    paragraph: list[str] = []
    fenced = False
    for line in (*markdown.splitlines(), ""):
        fence = line.startswith("```")
        starts = not line.strip() or fence or fenced or line.lstrip().startswith(("- ", "|", "### ")) or _numbered(line)
        if starts and paragraph:
            yield _plain(" ".join(paragraph))
            paragraph = []
        if fence:
            fenced = not fenced
        elif fenced and line.strip():
            yield line.strip()
        elif line.strip():
            paragraph.append(line.strip())


def _numbered(line: str) -> bool:
    return re.match(r"\s*\d+\. ", line) is not None


def _plain(line: str) -> str:
    return " ".join(_MARKUP.sub("", line).removeprefix("- ").replace("|", " ").split())


def words_in(query: str) -> list[str]:
    """The words that are searched for, each once."""
    return list(dict.fromkeys(fold(query).split()))


def marks(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """Where the words stand in a text."""
    folded, at = _fold_with_places(text)
    spans = []
    for word in words:
        start = folded.find(word)
        while word and start >= 0:
            spans.append((at[start], at[start + len(word) - 1] + 1))
            start = folded.find(word, start + len(word))
    return sorted(spans)


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Text without case and accents."""
    return text.lower() if text.isascii() else _fold_with_places(text)[0]


def _fold_with_places(text: str) -> tuple[str, Sequence[int]]:
    """Folded text, and for each of its letters which one of the text it comes from."""
    if text.isascii():
        return text.lower(), range(len(text))
    letters, at = [], []
    for place, letter in enumerate(text):
        for part in unicodedata.normalize("NFKD", letter).casefold():
            if not unicodedata.combining(part):
                letters.append(part)
                at.append(place)
    return "".join(letters), at


def _best_line(lines: Sequence[str], words: Sequence[str], phrase: str) -> tuple[int, float]:
    """The line with the most of the words, and how well it has them: beside each other is best."""
    best, hits = 0, 0.0
    for number, line in enumerate(lines):
        score = sum(word in line for word in words) + (0.5 if phrase in line else 0) + 0.25 * _begins_word(phrase, line)
        if score > hits:
            best, hits = number, score
    return best, hits


def _begins_word(phrase: str, text: str) -> bool:
    at = text.find(phrase)
    return at == 0 or (at > 0 and not text[at - 1].isalnum())
