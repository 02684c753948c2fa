"""What was graded so far, one result a line, so that a class that was stopped goes on where it was.

The first line says what all results have in common. Each line is written as one piece and forced to the disk; a line
that was cut off by the end of the process or the machine is dropped when the ledger is opened again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from grader.batch.records import Attempt, Result
from grader.errors import GraderError
from lab.language import _, current

NAME = "ledger.jsonl"


class LedgerInUse(GraderError):
    """Another grader writes to the same folder."""


class LedgerUnusable(GraderError):
    """The file is none of ours, or of a newer version."""


class Opening(msgspec.Struct, frozen=True, tag="opening"):
    """The first line: what the results have in common."""

    seed: int
    """For all students alike, or what the seed of each is drawn from."""
    schema: Literal[1] = 1


class Line(msgspec.Struct, frozen=True, tag="result"):
    """One result, and what it depends on."""

    course: str
    """What the checks and the lab were made of."""
    result: Result


class Ledger:
    """Opened for one grader at a time; adding and looking up may happen in several threads."""

    def __init__(self, folder: Path, seed: int) -> None:
        """Open the ledger of a folder of results. An existing one keeps the seed that it began with."""
        self.path = folder / NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise LedgerUnusable(
                _("{path} can't be written: {reason}. Is its folder yours?", path=self.path, reason=error.strerror)
            ) from error
        try:
            self._lock()
            self.seed, self._lines = self._read(seed)
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # not a system on which classes are graded
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LedgerInUse(
                _(
                    "Another grader is writing to {folder}. Wait for its end, or give another --out.",
                    folder=self.path.parent,
                )
            ) from None

    def _read(self, seed: int) -> tuple[int, dict[tuple[str, str, str, str], Line]]:
        data = self.path.read_bytes()
        whole, _newline, cut_off = data.rpartition(b"\n")
        if cut_off:
            os.ftruncate(self._file, len(data) - len(cut_off))
        lines: dict[tuple[str, str, str, str], Line] = {}
        opening: Opening | None = None
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                read = msgspec.json.decode(line, type=Opening | Line)
            except msgspec.DecodeError as error:
                raise LedgerUnusable(
                    _(
                        "{path}, line {number}, can't be read as a result ({reason}). Was it made by another version? "
                        "Give another --out, or move the file away to grade everything anew.",
                        path=self.path,
                        number=number,
                        reason=error,
                    )
                ) from error
            if isinstance(read, Opening):
                opening = opening or read
            else:
                lines[_key(read.result.attempt, read.result.source_sha256)] = read
        if opening is None:
            opening = Opening(seed)
            os.ftruncate(self._file, 0)
            self._append(opening)
        os.lseek(self._file, 0, os.SEEK_END)
        return opening.seed, lines

    def find(self, attempt: Attempt, source_sha256: str, seed: int, course: str) -> Result | None:
        """The result of this file by this student, if neither it nor the course has changed since."""
        line = self._lines.get(_key(attempt, source_sha256))
        if line is None or line.course != course or line.result.seed != seed or line.result.verdict is None:
            return None
        if line.result.verdict.language != current():
            return None  # its messages are for readers of another language
        return msgspec.structs.replace(line.result, attempt=attempt)

    def add(self, result: Result, course: str) -> None:
        """Keep a result; it is on the disk when this returns."""
        line = Line(course, result)
        self._append(line)
        self._lines[_key(result.attempt, result.source_sha256)] = line

    def _append(self, line: Opening | Line) -> None:
        # One write at the end of the file: whoever is killed in it leaves a line without its end, and no other damage.
        os.lseek(self._file, 0, os.SEEK_END)
        data = msgspec.json.encode(line) + b"\n"
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)


def _key(attempt: Attempt, source_sha256: str) -> tuple[str, str, str, str]:
    return attempt.student, attempt.exercise, attempt.shown, source_sha256
