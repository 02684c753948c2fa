"""Two versions of a program side by side: which lines and words differ, with long equal stretches folded."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Span = tuple[int, int]
AROUND = 2
"""How many equal lines are shown around a change."""
FEWEST_FOLDED = 3
ALIKE = 0.5
MOST_PAIRS = 2500
_WORD = re.compile(r"\w+|\s+|.")


@dataclass(frozen=True)
class Line:
    """A line of one version."""

    number: int
    """Counted from 0."""
    text: str
    words: tuple[Span, ...] = ()
    """Where it differs from the line beside it."""


@dataclass(frozen=True)
class Row:
    """A line of either version or of both."""

    kind: Literal["same", "changed", "left", "right"]
    left: Line | None
    right: Line | None


@dataclass(frozen=True)
class Fold:
    """Lines that are the same in both versions and aren't shown."""

    lines: int


def compare(left: str, right: str) -> list[Row | Fold]:
    """The rows of two versions, with equal lines only around what differs; spaces at line ends are no difference."""
    return list(_folded(list(_rows(_lines(left), _lines(right)))))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.expandtabs(4).rstrip().splitlines()]


def _rows(left: Sequence[str], right: Sequence[str]) -> Iterator[Row]:
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for tag, begin, end, there, stop in matcher.get_opcodes():
        if tag == "equal":
            for a, b in zip(range(begin, end), range(there, stop), strict=True):
                yield Row("same", Line(a, left[a]), Line(b, right[b]))
        else:
            yield from _changed(left, right, range(begin, end), range(there, stop))


def _changed(left: Sequence[str], right: Sequence[str], ours: range, theirs: range) -> Iterator[Row]:
    a, b = ours.start, theirs.start
    for pair in (*_alike(left, right, ours, theirs), (ours.stop, theirs.stop)):
        yield from (Row("left", Line(number, left[number]), None) for number in range(a, pair[0]))
        yield from (Row("right", None, Line(number, right[number])) for number in range(b, pair[1]))
        a, b = pair
        if a < ours.stop:
            before, after = _words(left[a], right[b])
            yield Row("changed", Line(a, left[a], before), Line(b, right[b], after))
            a, b = a + 1, b + 1


def _alike(left: Sequence[str], right: Sequence[str], ours: range, theirs: range) -> list[tuple[int, int]]:
    """The pairs of lines that are versions of each other, in order: those whose likenesses add up to the most."""
    if len(ours) * len(theirs) > MOST_PAIRS:
        return []
    likeness = [[_likeness(left[a], right[b]) for b in theirs] for a in ours]
    best = [[0.0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for i in reversed(range(len(ours))):
        for j in reversed(range(len(theirs))):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], likeness[i][j] + best[i + 1][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(ours) and j < len(theirs):
        if likeness[i][j] and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            pairs.append((ours[i], theirs[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _likeness(one: str, other: str) -> float:
    one, other = one.strip(), other.strip()
    if not one or not other:
        return 0.0
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    if min(matcher.real_quick_ratio(), matcher.quick_ratio()) <= ALIKE:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio > ALIKE else 0.0


def _words(one: str, other: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Where two lines differ, in whole words."""
    ours, theirs = _WORD.findall(one), _WORD.findall(other)
    before, after = list[Span](), list[Span]()
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    for tag, begin, end, there, stop in matcher.get_opcodes():
        if tag != "equal":
            before.append(_span(ours, begin, end))
            after.append(_span(theirs, there, stop))
    return tuple(span for span in before if span[0] < span[1]), tuple(span for span in after if span[0] < span[1])


def _span(words: Sequence[str], begin: int, end: int) -> Span:
    start = sum(map(len, words[:begin]))
    return start, start + sum(map(len, words[begin:end]))


def _folded(rows: Sequence[Row]) -> Iterator[Row | Fold]:
    near = {
        at + distance for at, row in enumerate(rows) if row.kind != "same" for distance in range(-AROUND, AROUND + 1)
    }
    at = 0
    while at < len(rows):
        end = at
        while end < len(rows) and end not in near:
            end += 1
        if end - at >= FEWEST_FOLDED:
            yield Fold(end - at)
        else:
            yield from rows[at:end]
        if end < len(rows):
            yield rows[end]
        at = end + 1
