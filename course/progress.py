"""What the learner has done and where they stopped, in one SQLite file that several processes may share."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from course import folders
from lab.language import _

SCHEMA_VERSION = 3
_SCHEMA = """
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY, exercise TEXT NOT NULL, at_s REAL NOT NULL, status TEXT NOT NULL,
    points INTEGER NOT NULL, max_points INTEGER NOT NULL, verdict TEXT NOT NULL);
CREATE INDEX attempts_by_exercise ON attempts (exercise, points);
CREATE TABLE places (lesson TEXT PRIMARY KEY, step TEXT NOT NULL, at_s REAL NOT NULL);
CREATE TABLE carets (
    exercise TEXT PRIMARY KEY, row INTEGER NOT NULL, column INTEGER NOT NULL,
    scroll_x INTEGER NOT NULL, scroll_y INTEGER NOT NULL, pane TEXT NOT NULL);
CREATE TABLE seen (step TEXT PRIMARY KEY, at_s REAL NOT NULL);
CREATE TABLE hints (exercise TEXT PRIMARY KEY, shown INTEGER NOT NULL);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_ADDED_IN_VERSION = {
    2: """
CREATE TABLE predictions (card TEXT PRIMARY KEY, choice INTEGER NOT NULL, came_true INTEGER, at_s REAL NOT NULL);
""",
    3: """
CREATE TABLE bookmarks (step TEXT PRIMARY KEY, at_s REAL NOT NULL, kept INTEGER NOT NULL);
CREATE TABLE solutions (exercise TEXT PRIMARY KEY, at_s REAL NOT NULL, passed INTEGER NOT NULL);
CREATE TABLE spent (
    machine TEXT NOT NULL, lesson TEXT NOT NULL, seconds_s REAL NOT NULL, PRIMARY KEY (machine, lesson));
""",
}
REVEALED = "predicted "
EXPECTED = "expected "
"""Before a card's id, the name of the setting that says that its explanation was read."""

ExerciseStatus = Literal["new", "attempted", "passed"]


class ProgressError(Exception):
    """The progress file can't be used; the message says why and what to do."""


class Best(msgspec.Struct, frozen=True):
    """The best result of an exercise over all attempts."""

    points: int
    max_points: int
    passed: bool
    attempts: int


class Place(msgspec.Struct, frozen=True):
    """Where the learner stopped in a lesson."""

    lesson: str
    step: str


class Caret(msgspec.Struct, frozen=True):
    """Where the learner stopped in an exercise file, and the pane that was open."""

    row: int = 0
    column: int = 0
    scroll_x: int = 0
    scroll_y: int = 0
    pane: str = "task"


class Progress:
    """An open progress file. Every write is its own transaction, so that a killed process loses at most one."""

    notice: str | None = None
    """What the learner should know about opening it, e.g. that a damaged file was put aside."""
    on_problem: Callable[[str], None] | None = None
    """Told when something can't be written, e.g. on a full disk; without it, that is a ProgressError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = _open(path)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise ProgressError(
                    _("{path} can't be opened: {error}. Is its folder writable?", path=path, error=error)
                ) from error
            aside = _put_aside(path)
            self.notice = _(
                "The progress file was damaged and is now {aside}. Your exercise files are untouched.", aside=aside
            )
            self._database = _open(path)
        except OSError as error:
            raise ProgressError(
                _(
                    "{path} can't be opened: {reason}. Make its folder writable, or set PROFILE_FIRST_HOME.",
                    path=path,
                    reason=error.strerror,
                )
            ) from error

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Attempts

    def record(self, verdict: Mapping[str, Any]) -> None:
        """Add a verdict, in the JSON form that the grader gives."""
        self._write(
            "INSERT INTO attempts (exercise, at_s, status, points, max_points, verdict) VALUES (?, ?, ?, ?, ?, ?)",
            verdict["exercise"],
            time.time(),
            verdict["status"],
            verdict["points"],
            verdict["max_points"],
            json.dumps(verdict),
        )

    def best(self) -> dict[str, Best]:
        """The best result of each exercise that was attempted."""
        rows = self._database.execute(
            "SELECT exercise, MAX(points), MAX(max_points), MAX(status = 'passed'), COUNT(*) FROM attempts GROUP BY 1"
        )
        return {row[0]: Best(row[1], row[2], bool(row[3]), row[4]) for row in rows}

    def last_verdict(self, exercise: str) -> dict[str, Any] | None:
        """The newest verdict on an exercise."""
        row = self._one("SELECT verdict FROM attempts WHERE exercise = ? ORDER BY at_s DESC, id DESC LIMIT 1", exercise)
        return json.loads(row[0]) if row else None

    def verdicts(self) -> Iterator[dict[str, Any]]:
        """Every verdict, the oldest first."""
        for (verdict,) in self._database.execute("SELECT verdict FROM attempts ORDER BY at_s, id"):
            yield json.loads(verdict)

    # Where the learner is

    def place(self, lesson: str | None = None) -> Place | None:
        """Where the learner stopped: in this lesson, or in the one that they were in last."""
        row = self._one(
            "SELECT lesson, step FROM places WHERE lesson = coalesce(?, lesson) ORDER BY at_s DESC LIMIT 1", lesson
        )
        return Place(*row) if row else None

    def move_to(self, lesson: str, step: str) -> None:
        """The learner is now at this step, which counts as seen."""
        self._write("INSERT OR REPLACE INTO places VALUES (?, ?, ?)", lesson, step, time.time())
        self._write("INSERT OR IGNORE INTO seen VALUES (?, ?)", f"{lesson}/{step}", time.time())

    def seen(self) -> set[str]:
        """The ids of all steps that were opened."""
        return {row[0] for row in self._database.execute("SELECT step FROM seen")}

    def caret(self, exercise: str) -> Caret | None:
        """Where the learner stopped in the exercise's file, if they were in it."""
        row = self._one("SELECT row, column, scroll_x, scroll_y, pane FROM carets WHERE exercise = ?", exercise)
        return Caret(*row) if row else None

    def keep_caret(self, exercise: str, caret: Caret) -> None:
        self._write(
            "INSERT OR REPLACE INTO carets VALUES (?, ?, ?, ?, ?, ?)",
            exercise,
            caret.row,
            caret.column,
            caret.scroll_x,
            caret.scroll_y,
            caret.pane,
        )

    def spend(self, lesson: str, seconds_s: float) -> None:
        """Add time that was spent in a lesson."""
        self._write(
            "INSERT INTO spent VALUES (?, ?, ?) "
            "ON CONFLICT (machine, lesson) DO UPDATE SET seconds_s = seconds_s + excluded.seconds_s",
            self._machine(),
            lesson,
            seconds_s,
        )

    def spent_s(self) -> dict[str, float]:
        """The seconds that were spent in each lesson, on all machines."""
        return dict(self._database.execute("SELECT lesson, SUM(seconds_s) FROM spent GROUP BY 1").fetchall())

    def _machine(self) -> str:
        """What tells this progress file from those of other machines."""
        if (known := self.setting("machine")) is not None:
            return known
        self._write("INSERT OR IGNORE INTO settings VALUES ('machine', ?)", uuid.uuid4().hex)
        return self.setting("machine") or uuid.uuid4().hex

    # Bookmarks and solutions

    def bookmarks(self) -> list[str]:
        """The ids of the steps that are marked, the newest mark last."""
        return [row[0] for row in self._database.execute("SELECT step FROM bookmarks WHERE kept ORDER BY at_s, step")]

    def toggle_bookmark(self, step: str) -> bool:
        """Mark a step, or take its mark away; returns whether it is marked now."""
        kept = step not in self.bookmarks()
        # A mark that was taken away stays known, or another machine's older mark would bring it back.
        self._write("INSERT OR REPLACE INTO bookmarks VALUES (?, ?, ?)", step, time.time(), kept)
        return kept

    def see_solution(self, exercise: str, *, passed: bool) -> None:
        """The learner looks at a solution; what counts is the first time, and whether it was passed by then."""
        self._write("INSERT OR IGNORE INTO solutions VALUES (?, ?, ?)", exercise, time.time(), passed)

    def solutions_seen(self) -> dict[str, bool]:
        """The exercises whose solution was looked at, and whether they were passed by then."""
        return {row[0]: bool(row[1]) for row in self._database.execute("SELECT exercise, passed FROM solutions")}

    # Predictions, hints and settings

    def predict(self, card: str, choice: int, came_true: bool | None) -> None:
        """Keep the first answer to a card's question; `came_true` is None where there is no right one."""
        self._write("INSERT OR IGNORE INTO predictions VALUES (?, ?, ?, ?)", card, choice, came_true, time.time())

    def prediction(self, card: str) -> int | None:
        """The choice that was made on this card."""
        row = self._one("SELECT choice FROM predictions WHERE card = ?", card)
        return int(row[0]) if row else None

    def predictions(self, lesson: str | None = None) -> tuple[int, int]:
        """How many predictions came true in a lesson, or everywhere, and of how many that could."""
        row = self._one(
            "SELECT coalesce(SUM(came_true), 0), COUNT(came_true) FROM predictions "
            "WHERE substr(card, 1, instr(card, '/') - 1) = coalesce(?, substr(card, 1, instr(card, '/') - 1))",
            lesson,
        )
        return (int(row[0]), int(row[1])) if row else (0, 0)

    def hints_shown(self, exercise: str) -> int:
        row = self._one("SELECT shown FROM hints WHERE exercise = ?", exercise)
        return int(row[0]) if row else 0

    def show_hints(self, exercise: str, count: int) -> None:
        self._write("INSERT OR REPLACE INTO hints VALUES (?, ?)", exercise, count)

    def setting(self, name: str) -> str | None:
        row = self._one("SELECT value FROM settings WHERE name = ?", name)
        return str(row[0]) if row else None

    def set(self, name: str, value: str) -> None:
        self._write("INSERT OR REPLACE INTO settings VALUES (?, ?)", name, value)

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The database as it is at one moment, whatever other processes write meanwhile."""
        self._database.execute("BEGIN")
        try:
            yield self._database
        finally:
            self._database.rollback()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Everything that is written inside, or nothing of it."""
        try:
            self._database.execute("BEGIN IMMEDIATE")
            with self._database:
                yield self._database
        except sqlite3.OperationalError as error:
            raise ProgressError(
                _("{path} can't be written: {error}. Is the disk full?", path=self.path, error=error)
            ) from error

    def _write(self, statement: str, *values: object) -> None:
        try:
            with self._database:
                self._database.execute(statement, values)
        except sqlite3.OperationalError as error:
            message = _(
                "{path} can't be written: {error}. Is the disk full, or the file read-only?",
                path=self.path,
                error=error,
            )
            if self.on_problem is None:
                raise ProgressError(message) from error
            self.on_problem(message)

    def _one(self, query: str, *values: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._database.execute(query, values).fetchone()
        return row


def at_home() -> Progress:
    """The progress in the folder that the course stores everything in."""
    return Progress(folders.home() / "progress.sqlite3")


def status_of(best: Best | None) -> ExerciseStatus:
    """An exercise's status in one word."""
    if best is None:
        return "new"
    return "passed" if best.passed else "attempted"


def _open(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=10)
    try:
        # Two processes that make the file at the same moment may find it locked here; the other one then sets it.
        with contextlib.suppress(sqlite3.OperationalError):
            database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("BEGIN IMMEDIATE")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            raise ProgressError(
                _(
                    "{path} was made by a newer version of Profile First. Update with 'pip install -U "
                    "profile-first', or set PROFILE_FIRST_HOME to another folder.",
                    path=path,
                )
            )
        if version < SCHEMA_VERSION:
            added = [sql for since, sql in _ADDED_IN_VERSION.items() if version < since]
            for statement in filter(str.strip, "".join([*([] if version else [_SCHEMA]), *added]).split(";")):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        database.commit()
    except BaseException:
        database.close()
        raise
    return database


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    return not isinstance(error, sqlite3.OperationalError)


def _put_aside(path: Path) -> Path:
    """Rename a damaged file, with the files that SQLite keeps beside it, to a name that is free."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(aside)
    for suffix in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(f"{aside}{suffix}")
    return aside
