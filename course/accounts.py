"""What a learner has done, in a form that can be carried to another machine and merged with what was done there.

Merging takes, for every single thing, the newest or the furthest of both sides, so the order and the number of merges
make no difference.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar

import msgspec

from course.progress import EXPECTED, REVEALED, Progress
from course.report import printable
from grader.verdict import Verdict
from lab.language import _

VERSION = 2
BEGINS = '{\n "profile_first_progress"'
"""How each file of this form begins."""
MAX_BYTES = 64 * 2**20
MAX_TEXT = 1_000_000  # as many as the grader takes

Lesson = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*\Z", max_length=80)]
StepId = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*/[a-z][a-z0-9_]*\Z", max_length=160)]
Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*\Z", max_length=80)]
Machine = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
Moment = Annotated[float, msgspec.Meta(ge=0, lt=2**38)]
"""Seconds since 1970; SQLite and JSON both hold it exactly."""
Count = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
Nanoseconds = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]

K = TypeVar("K")
V = TypeVar("V")


class AccountsUnreadable(Exception):
    """A file isn't accounts of progress that can be read; the message says why and what to do."""


class Attempt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One check of an exercise or a quiz."""

    at_s: Moment
    verdict: dict[str, Any]

    @property
    def exercise(self) -> str:
        return str(self.verdict["exercise"])


class Stop(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """The step of a lesson at which the learner stopped."""

    at_s: Moment
    step: Name


class Predicted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first answer to a card's question."""

    at_s: Moment
    choice: Annotated[int, msgspec.Meta(ge=0, lt=10)]
    came_true: bool | None


class Bookmark(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """A step that was marked, or whose mark was taken away."""

    at_s: Moment
    kept: bool


class SolutionSeen(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """When an exercise's solution was first looked at, and whether it was passed by then."""

    at_s: Moment
    passed: bool


class FileText(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """The text of a file and when it was changed."""

    changed_ns: Nanoseconds
    text: Text


class Accounts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that was done; `profile_first_progress` is the version of this form."""

    profile_first_progress: int = VERSION
    attempts: list[Attempt] = []
    places: dict[Lesson, Stop] = {}
    seen: dict[StepId, Moment] = {}
    hints: dict[StepId, Count] = {}
    predictions: dict[StepId, Predicted] = {}
    expected: dict[StepId, Text] = {}
    """What the learner expected, in their words, where a card has no choices."""
    revealed: list[StepId] = []
    """The cards whose explanation was read."""
    bookmarks: dict[StepId, Bookmark] = {}
    solutions: dict[StepId, SolutionSeen] = {}
    spent_s: dict[Machine, dict[Lesson, Moment]] = {}
    """Seconds spent in a lesson, for each machine apart, so that they can be merged."""
    files: dict[StepId, FileText] = {}
    """The learner's exercises, and the answers to each quiz."""


def merge(one: Accounts, other: Accounts) -> Accounts:
    """Both together: nothing that either has is lost, but files, of which the newest stays."""
    attempts = {_identity(each): each for each in (*one.attempts, *other.attempts)}
    return Accounts(
        attempts=[attempts[key] for key in sorted(attempts)],
        places=_merged(one.places, other.places, max),
        seen=_merged(one.seen, other.seen, min),
        hints=_merged(one.hints, other.hints, max),
        predictions=_merged(one.predictions, other.predictions, _first_prediction),
        expected=_merged(one.expected, other.expected, max),
        revealed=sorted({*one.revealed, *other.revealed}),
        bookmarks=_merged(one.bookmarks, other.bookmarks, max),
        solutions=_merged(one.solutions, other.solutions, min),
        spent_s=_merged(one.spent_s, other.spent_s, lambda here, there: _merged(here, there, max)),
        files=_merged(one.files, other.files, max),
    )


def _merged(one: Mapping[K, V], other: Mapping[K, V], choose: Callable[[V, V], V]) -> dict[K, V]:
    both = dict(one)
    for key, value in other.items():
        both[key] = choose(both[key], value) if key in both else value
    return {key: both[key] for key in sorted(both, key=str)}


def _first_prediction(one: Predicted, other: Predicted) -> Predicted:
    return min(one, other, key=lambda each: (each.at_s, each.choice, str(each.came_true)))


def _identity(attempt: Attempt) -> tuple[float, str]:
    """What makes an attempt the same one on two machines."""
    return attempt.at_s, json.dumps(attempt.verdict, sort_keys=True)


# As a file


def encode(accounts: Accounts) -> bytes:
    """The accounts as JSON, one line for each part and each attempt, so that differences can be read."""
    return msgspec.json.format(msgspec.json.encode(accounts), indent=1) + b"\n"


def decode(data: bytes, name: str) -> Accounts:
    """Read accounts back; whatever isn't accounts, or those of a newer version, is refused with the reason."""
    try:
        version = msgspec.json.decode(data, type=_Versioned).profile_first_progress
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise AccountsUnreadable(
            _(
                "{name} is not a file that 'profile-first progress export' wrote, or it is damaged. Export it again.",
                name=name,
            )
        ) from None
    if version > VERSION:
        raise AccountsUnreadable(
            _(
                "{name} was written by a newer version of Profile First. Update with 'pip install -U profile-first'.",
                name=name,
            )
        )
    try:
        accounts = msgspec.json.decode(data, type=Accounts)
        for attempt in accounts.attempts:
            _examine(attempt)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError) as error:
        raise AccountsUnreadable(
            _("{name} is damaged: {reason}. Export it again.", name=name, reason=printable(str(error)))
        ) from None
    return accounts


class _Versioned(msgspec.Struct):
    profile_first_progress: Annotated[int, msgspec.Meta(ge=1)]


def _examine(attempt: Attempt) -> None:
    """Raise ValueError unless the verdict is one that the app can show."""
    verdict = msgspec.convert(attempt.verdict, Verdict)
    msgspec.convert(verdict.exercise, StepId)
    if not 0 <= verdict.points <= verdict.max_points < 2**31:
        raise ValueError(f"{verdict.points} of {verdict.max_points} points can't be")
    json.dumps(attempt.verdict, allow_nan=False).encode()


# In the database


def read(kept: Progress) -> Accounts:
    """All that is in the progress file."""
    with kept.reading() as database:
        return read_from(database)


def read_from(database: sqlite3.Connection) -> Accounts:
    """All that is in the progress file, within a transaction."""
    rows = database.execute
    spent: dict[str, dict[str, float]] = {}
    for machine, lesson, seconds_s in rows("SELECT machine, lesson, seconds_s FROM spent"):
        spent.setdefault(machine, {})[lesson] = seconds_s
    revealed = rows("SELECT name FROM settings WHERE substr(name, 1, ?) = ?", (len(REVEALED), REVEALED))
    expected = rows("SELECT name, value FROM settings WHERE substr(name, 1, ?) = ?", (len(EXPECTED), EXPECTED))
    predictions = rows("SELECT card, at_s, choice, came_true FROM predictions")
    return Accounts(
        attempts=[Attempt(at_s, json.loads(verdict)) for at_s, verdict in rows("SELECT at_s, verdict FROM attempts")],
        places={lesson: Stop(at_s, step) for lesson, at_s, step in rows("SELECT lesson, at_s, step FROM places")},
        seen=dict(rows("SELECT step, at_s FROM seen").fetchall()),
        hints=dict(rows("SELECT exercise, shown FROM hints").fetchall()),
        predictions={
            card: Predicted(at_s, choice, None if came_true is None else bool(came_true))
            for card, at_s, choice, came_true in predictions
        },
        expected={name[len(EXPECTED) :]: words for name, words in expected},
        revealed=[name[len(REVEALED) :] for (name,) in revealed],
        bookmarks={
            s: Bookmark(at_s, bool(is_kept)) for s, at_s, is_kept in rows("SELECT step, at_s, kept FROM bookmarks")
        },
        solutions={
            exercise: SolutionSeen(at_s, bool(passed))
            for exercise, at_s, passed in rows("SELECT exercise, at_s, passed FROM solutions")
        },
        spent_s=spent,
    )


def write(database: sqlite3.Connection, accounts: Accounts) -> int:
    """Put merged accounts in the place of what is there; returns how many attempts are new."""
    known = {_identity(each) for each in read_from(database).attempts}
    new = [each for each in accounts.attempts if _identity(each) not in known]
    _insert(
        database,
        "INSERT INTO attempts (exercise, at_s, status, points, max_points, verdict) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (each.exercise, each.at_s, *(each.verdict[key] for key in ("status", "points", "max_points")), _text(each))
            for each in new
        ),
    )
    replace = "INSERT OR REPLACE INTO"
    _insert(
        database,
        f"{replace} places (lesson, step, at_s) VALUES (?, ?, ?)",
        ((lesson, each.step, each.at_s) for lesson, each in accounts.places.items()),
    )
    _insert(database, f"{replace} seen (step, at_s) VALUES (?, ?)", accounts.seen.items())
    _insert(database, f"{replace} hints (exercise, shown) VALUES (?, ?)", accounts.hints.items())
    _insert(
        database,
        f"{replace} predictions (card, choice, came_true, at_s) VALUES (?, ?, ?, ?)",
        ((card, each.choice, each.came_true, each.at_s) for card, each in accounts.predictions.items()),
    )
    _insert(
        database,
        f"{replace} settings (name, value) VALUES (?, 'yes')",
        ((f"{REVEALED}{card}",) for card in accounts.revealed),
    )
    _insert(
        database,
        f"{replace} settings (name, value) VALUES (?, ?)",
        ((f"{EXPECTED}{card}", words) for card, words in accounts.expected.items()),
    )
    _insert(
        database,
        f"{replace} bookmarks (step, at_s, kept) VALUES (?, ?, ?)",
        ((step, each.at_s, each.kept) for step, each in accounts.bookmarks.items()),
    )
    _insert(
        database,
        f"{replace} solutions (exercise, at_s, passed) VALUES (?, ?, ?)",
        ((exercise, each.at_s, each.passed) for exercise, each in accounts.solutions.items()),
    )
    _insert(
        database,
        f"{replace} spent (machine, lesson, seconds_s) VALUES (?, ?, ?)",
        ((machine, *item) for machine, lessons in accounts.spent_s.items() for item in lessons.items()),
    )
    return len(new)


def _insert(database: sqlite3.Connection, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
    database.executemany(statement, rows)


def _text(attempt: Attempt) -> str:
    return json.dumps(attempt.verdict)
