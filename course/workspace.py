"""The learner's own copies of the exercise files, saved so that nothing typed is ever lost."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from lab.language import ENGLISH, LANGUAGES, _, current

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

from course import folders
from solutions import WITHHELD

MOST_LOCKED_S = 0.5
"""How long a save waits for another window's save."""


class WorkspaceError(Exception):
    """A file of the workspace can't be read or written; the message names it and the fix."""


class ChangedElsewhere(WorkspaceError):
    """The file has a text that another program saved since it was last read here."""

    def __init__(self, path: Path, theirs: bytes) -> None:
        super().__init__(_("{path} was changed by another program too.", path=path))
        self.theirs = theirs


class Workspace(msgspec.Struct, frozen=True):
    """The folder with the learner's files, and the starters that they begin from."""

    folder: Path
    starters: Path = folders.EXERCISES
    solutions: Path = folders.SOLUTIONS

    def path(self, exercise: str) -> Path:
        """Where the learner's copy of `<lesson>/<exercise>` lies, whether it exists or not."""
        return self.folder / f"{exercise}.py"

    def starter(self, exercise: str, language: str | None = None) -> str:
        """The text that the exercise begins with, its task in the language that is spoken."""
        return self._with_task(_read(self.starters / f"{exercise}.py"), exercise, language)

    def is_starter(self, exercise: str, text: str) -> bool:
        """Whether a text is what the exercise begins with, in whatever language it was begun."""
        return any(text == self.starter(exercise, language) for language in LANGUAGES)

    def _with_task(self, source: str, exercise: str, language: str | None = None) -> str:
        language = language or current()
        if language == ENGLISH:
            return source
        from grader.tasks import in_language

        return in_language(source, exercise, self.starters, language)

    def solution(self, exercise: str) -> str:
        """The text of a solution."""
        if (self.solutions / WITHHELD).is_file():
            raise WorkspaceError(
                _("The solutions are with your instructor: this copy of the course came without them.")
            )
        return self._with_task(_read(self.solutions / f"{exercise}.py"), exercise)

    def stamp(self, exercise: str) -> tuple[int, int, int] | None:
        """What changes when the learner's file is written: its time, size and number; None where there is no file."""
        try:
            found = self.path(exercise).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def open(self, exercise: str) -> str:
        """The learner's text; the first time, a fresh copy of the starter."""
        path = self.path(exercise)
        if not path.exists():
            write_atomically(path, self.starter(exercise))
        return _read(path)

    def save(self, exercise: str, text: str, known: str | bytes | None = None) -> None:
        """Save the learner's text.

        `known` is the text that the file had when it was last read or saved here. When another program has changed
        the file since, nothing is written and ChangedElsewhere says what the file has now.
        """
        path = self.path(exercise)
        with self.alone():
            on_disk = _bytes_or_none(path)
            if on_disk == text.encode():
                return
            expected = known.encode() if isinstance(known, str) else known
            if expected is not None and on_disk is not None and on_disk != expected:
                raise ChangedElsewhere(path, on_disk)
            write_atomically(path, text)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep the course's other windows from saving between a look at a file and its writing."""
        try:
            import fcntl

            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / ".lock").open("w")
        except (ImportError, OSError):  # then the write itself says what is wrong
            yield
            return
        with lock:
            deadline_s = time.monotonic() + MOST_LOCKED_S
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    if time.monotonic() < deadline_s:
                        time.sleep(0.005)
                        continue
                break  # a window that was stopped in the middle doesn't hold up the others
            yield

    def reset(self, exercise: str) -> Path | None:
        """Start the exercise again; the learner's text goes to a numbered backup, whose path is returned."""
        starter, path = self.starter(exercise), self.path(exercise)
        backup = None
        with self.alone():
            try:
                on_disk = path.read_bytes() if path.exists() else None  # which needn't be text any more
                if on_disk is not None and not self.is_starter(exercise, on_disk.decode(errors="replace")):
                    backup = self.back_up(exercise, on_disk)
            except OSError as error:
                raise WorkspaceError(
                    _("{path} can't be backed up, so it stays as it is: {reason}.", path=path, reason=error.strerror)
                ) from error
            write_atomically(path, starter)
        return backup

    def keep_aside(self, step: str, suffix: str, text: str) -> Path | None:
        """Put another version of a file among the backups, unless it is there already; returns where."""
        folder, name = self._backups(step)
        if any(path.read_bytes() == text.encode() for path in folder.glob(f"{name}.[0-9]*{suffix}")):
            return None
        return self.back_up(step, text, suffix)

    def _backups(self, step: str) -> tuple[Path, str]:
        """The folder for the backups of a file, and what their names begin with."""
        lesson, _slash, name = step.partition("/")
        return self.folder / lesson / "backups", name

    def back_up(self, step: str, text: str | bytes, suffix: str = ".py") -> Path:
        """Keep a text under the next free number; returns where."""
        folder, name = self._backups(step)
        folder.mkdir(parents=True, exist_ok=True)
        number = 1
        while True:
            path = folder / f"{name}.{number}{suffix}"
            try:
                with path.open("xb") as file:
                    file.write(text if isinstance(text, bytes) else text.encode())
            except FileExistsError:
                number += 1
            else:
                return path

    # What can't go into its file, because another program changed that too

    def keep_draft(self, exercise: str, text: str) -> None:
        """Keep a text beside its file until it is decided which version stays."""
        write_atomically(self._draft_path(exercise, os.getpid()), text)

    def drop_draft(self, exercise: str) -> None:
        """It is decided, or the file has the text now."""
        for path in self._drafts(exercise):
            path.unlink(missing_ok=True)

    def draft(self, exercise: str) -> str | None:
        """A text that is not in its file yet: of this process, or of one that has ended since.

        Of several, as windows that were killed together leave, one is to be decided; the others become backups.
        """
        drafts = self._drafts(exercise)
        for path in drafts[1:]:
            self.keep_aside(exercise, path.suffix, _read(path))
            path.unlink()
        return _read_or_none(drafts[0]) if drafts else None

    def _draft_path(self, exercise: str, process: int | str) -> Path:
        folder, name = self._backups(exercise)
        return folder / f"{name}.unsaved-{process}.py"

    def _drafts(self, exercise: str) -> list[Path]:
        pattern = self._draft_path(exercise, "*")
        return [path for path in sorted(pattern.parent.glob(pattern.name)) if not _is_of_another(path)]

    def answers_path(self, lesson: str) -> Path:
        """Where the answers to the lesson's quiz lie."""
        return self.folder / lesson / "quiz.toml"

    def answers(self, lesson: str) -> dict[str, str]:
        """The answers given so far, choice id by question id; nothing if there are none or they can't be read."""
        text = _read_or_none(self.answers_path(lesson))
        try:
            answers = tomllib.loads(text or "").get("answers", {})
        except tomllib.TOMLDecodeError:
            return {}
        return {key: value for key, value in answers.items() if isinstance(value, str)}

    def save_answers(self, lesson: str, answers: Mapping[str, str]) -> Path:
        """Save the answers given so far in the form that the grader reads; returns the file."""
        path = self.answers_path(lesson)
        # A JSON string is a TOML basic string.
        lines = [f"{json.dumps(question)} = {json.dumps(choice)}\n" for question, choice in answers.items()]
        write_atomically(path, "[answers]\n" + "".join(lines))
        return path


def _is_of_another(draft: Path) -> bool:
    """Whether a process that still runs keeps this draft."""
    process = draft.stem.rpartition("-")[2]
    if process == str(os.getpid()):
        return False
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except OSError:
        pass
    return True


def at_home() -> Workspace:
    """The workspace in the folder that the course stores everything in."""
    return Workspace(folders.home() / "workspace")


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace the file in one step: after a crash it has either the old content or the new one, never half of it."""
    # A learner may have linked the file to a repository of their own: keep the link, write where it points.
    temporary: Path | None = None
    try:
        path = Path(os.path.realpath(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise WorkspaceError(
            _(
                "{path} can't be saved: {reason}. Free some space or make its folder writable; "
                "PROFILE_FIRST_HOME moves it elsewhere.",
                path=path,
                reason=error.strerror,
            )
        ) from error


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError as error:
        raise WorkspaceError(
            _("{path} is missing: the installation is incomplete. Install profile-first again.", path=path)
        ) from error
    except UnicodeDecodeError as error:
        raise WorkspaceError(
            _("{path} isn't UTF-8 text (byte {start}). Save it as UTF-8 in your editor.", path=path, start=error.start)
        ) from error
    except OSError as error:
        raise WorkspaceError(_("{path} can't be read: {reason}.", path=path, reason=error.strerror)) from error


def _bytes_or_none(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WorkspaceError(_("{path} can't be read: {reason}.", path=path, reason=error.strerror)) from error


def _read_or_none(path: Path) -> str | None:
    return _read(path) if path.exists() else None
