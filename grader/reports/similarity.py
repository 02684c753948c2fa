"""Finds students who handed in the same source, as a hint for the instructor to ask, not as a verdict."""

from __future__ import annotations

import builtins
import hashlib
import io
import keyword
import os
import stat
import tokenize
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Literal

from grader.batch.records import Gradebook, Result
from grader.lint.places import THIS_COURSE
from grader.reports.scores import is_quiz
from grader.source import Unreadable, max_bytes, read_source

Kind = Literal["exact", "normalised", "little", "starter", "solution"]
"""`little`: the same, with so little that isn't the starter's that it says nothing."""
MOST_LITTLE = 12
"""Tokens. A line that calls something has 8."""
LONG = 4_000
"""Tokens. An exercise has some hundreds; comparing takes the square of them."""
MOST_COMPARED = 3
"""Of sources that are the same but for names, this many are compared with the starter."""
MAX_CHARACTERS = 100_000  # of a source that is compared by more than its bytes
_NAMELESS = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER)
_LAYOUT = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
_KEPT = frozenset({*keyword.kwlist, *dir(builtins)})

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Students whose sources for an exercise are the same."""

    exercise: str
    kind: Kind
    own_tokens: int | None
    """How many tokens were not in the starter; None where only the bytes could be compared."""
    students: tuple[str, ...]


@dataclass(frozen=True)
class Compared:
    """What a comparison of a whole class found."""

    groups: tuple[Group, ...]
    unread: int
    """How many sources could only be compared by their bytes."""


def compare(gradebook: Gradebook) -> Compared:
    """For each exercise, one attempt of each student: the one that counts, or else the newest. Quizzes are left out."""
    groups: list[Group] = []
    unread = 0
    by_exercise: dict[str, list[Result]] = defaultdict(list)
    for result in _compared(gradebook):
        by_exercise[result.attempt.exercise].append(result)
    for exercise, results in by_exercise.items():
        found, missing = _in_exercise(exercise, results)
        groups += found
        unread += missing
    order = {exercise: place for place, exercise in enumerate(gradebook.exercises)}
    groups.sort(
        key=lambda each: (
            each.kind in ("little", "starter", "solution"),
            -(each.own_tokens or 0),
            order.get(each.exercise, 0),
            each.students,
        )
    )
    return Compared(tuple(groups), unread)


def normalised(text: str, *, names: bool = False) -> Tokens | None:
    """A source as tokens without comments, docstrings and blank space, its names numbered unless they are wanted.

    Names of attributes, keywords and builtins stay: they are what a program does. None if it isn't Python.
    """
    tokens: list[str] = []
    numbers: dict[str, str] = {}
    begins, is_string = True, False  # whether a statement begins here, and whether it is a string so far
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _NAMELESS:
                continue
            if token.type in _LAYOUT:
                if is_string and token.type == tokenize.NEWLINE:
                    tokens.pop()  # nothing but a string: a docstring
                else:
                    tokens.append(tokenize.tok_name[token.type])
                begins, is_string = True, False
                continue
            said = token.string
            if not names and token.type == tokenize.NAME and said not in _KEPT and tokens[-1:] != ["."]:
                said = numbers.setdefault(said, f"name {len(numbers)}")
            tokens.append(said)
            begins, is_string = False, begins and token.type == tokenize.STRING
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tuple(tokens)


def _compared(gradebook: Gradebook) -> list[Result]:
    newest: dict[tuple[str, str], Result] = {}
    for result in gradebook.results:
        key = (result.attempt.student, result.attempt.exercise)
        if key not in newest or result.attempt.number > newest[key].attempt.number:
            newest[key] = result
    for row in gradebook.rows:
        for score in row.scores:
            if score.counted is not None:
                newest[row.student.id, score.exercise] = score.counted
    return [result for result in newest.values() if not is_quiz(result.attempt.exercise)]


def _in_exercise(exercise: str, results: list[Result]) -> tuple[list[Group], int]:
    by_digest: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_digest[result.source_sha256].append(result)
    by_tokens: dict[Tokens, list[str]] = defaultdict(list)
    named: dict[str, Tokens] = {}
    starter, solution = _tokens_of_course(exercise)
    named_starter = _tokens_in(THIS_COURSE.starter(exercise), names=True)
    unread = 0
    groups: list[Group] = []
    for digest, same in by_digest.items():
        text = _read(same)
        tokens = normalised(text) if text is not None and len(text) <= MAX_CHARACTERS else None
        if tokens is not None:
            by_tokens[tokens].append(digest)
            named[digest] = normalised(text or "", names=True) or tokens
            continue
        unread += len(same)
        if len(same) > 1:
            groups.append(Group(exercise, "exact", None, _students(same)))
    for tokens, digests in by_tokens.items():
        everyone = [result for digest in digests for result in by_digest[digest]]
        if len(everyone) == 1:
            continue
        # One name more shifts the numbers of all names after it, and new names are no code of one's own.
        own = min(_more(tokens, starter), *(_more(named[digest], named_starter) for digest in digests[:MOST_COMPARED]))
        given: Kind | None = "starter" if tokens == starter else "solution" if tokens == solution else None
        if given is None and own <= MOST_LITTLE and starter is not None:
            given = "little"
        if given is not None or len(digests) > 1:
            groups.append(Group(exercise, given or "normalised", own, _students(everyone)))
        if given is None:
            same_bytes = (by_digest[digest] for digest in digests if len(by_digest[digest]) > 1)
            groups += [Group(exercise, "exact", own, _students(same)) for same in same_bytes]
    return groups, unread


def _more(tokens: Tokens, than: Tokens | None) -> int:
    """How many tokens are not in the other source, in its order; of a very long source at least so many."""
    if len(tokens) > LONG:
        return len(tokens) - len(than or ())
    blocks = SequenceMatcher(None, tokens, than or (), autojunk=False).get_matching_blocks()
    return len(tokens) - sum(block.size for block in blocks)


def _students(results: Iterable[Result]) -> tuple[str, ...]:
    return tuple(sorted({result.attempt.student for result in results}))


def _read(results: list[Result]) -> str | None:
    """The source that these results share, if one of its files is still what was graded."""
    for result in results:
        path = Path(result.attempt.file)
        data = _bytes(path)
        if data is not None and hashlib.sha256(data).hexdigest() == result.source_sha256:
            try:
                return read_source(path, data).text
            except Unreadable:
                return None
    return None


def _bytes(path: Path) -> bytes | None:
    """What is in a file that a student may have chosen: no link, no device, no endless one."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(max_bytes(path) + 1)


@cache
def _tokens_of_course(exercise: str) -> tuple[Tokens | None, Tokens | None]:
    """The starter and the solution; None where the course has none."""
    return _tokens_in(THIS_COURSE.starter(exercise)), _tokens_in(THIS_COURSE.solution(exercise))


def _tokens_in(path: Path, *, names: bool = False) -> Tokens | None:
    try:
        return normalised(path.read_text(encoding="utf-8"), names=names)
    except OSError:
        return None
