"""Takes a learner's progress and files to another machine: into one file, and out of it again."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from course import accounts
from course.accounts import MAX_BYTES, MAX_TEXT, Accounts, AccountsUnreadable, FileText
from course.catalog import Catalog
from course.names import WrongUsage
from course.progress import Progress
from course.workspace import Workspace, WorkspaceError, write_atomically
from lab.language import _


@dataclass
class Imported:
    """What an import changed."""

    attempts: int = 0
    """How many checks are new here."""
    replaced: list[Path] = field(default_factory=list)
    """The files of this machine that are newer in what was imported, or weren't here."""
    backups: list[Path] = field(default_factory=list)
    """The other versions of files that differ, as they were put aside."""
    unknown: list[str] = field(default_factory=list)
    """What belongs to exercises that this version of the course doesn't have; it stays in the imported file."""

    @property
    def changed(self) -> bool:
        return bool(self.attempts or self.replaced or self.backups)


def refuse_to_replace(file: Path, *begins: str) -> None:
    """Raise an error if a file is there that isn't an earlier one of the kind that is to be written."""
    if file.is_dir():
        raise WrongUsage(_("{file} is a folder. Give the name of a file in it.", file=file))
    try:
        with file.open(encoding="utf-8", errors="replace") as there:
            replaceable = there.read(max(map(len, begins))).startswith(begins)
    except FileNotFoundError:
        return
    if not replaceable:
        raise WrongUsage(
            _("{file} exists and is something else. Give another name, or --force to replace it.", file=file)
        )


def export_to(file: Path, kept: Progress, own: Workspace, lessons: Catalog) -> Accounts:
    """Write all that was done into one file."""
    everything = accounts.read(kept)
    files = {step: found for step, path in _paths(own, lessons).items() if (found := _work(step, path, own))}
    everything = accounts.merge(everything, Accounts(files=files))
    write_atomically(file, accounts.encode(everything).decode())
    return everything


def import_from(file: Path, kept: Progress, own: Workspace, lessons: Catalog) -> Imported:
    """Merge what a file says into what was done here: all of it, or nothing where something can't be read or written.

    Of a file that differs the newest version stays and the other one is put among the backups. A starter that wasn't
    touched is no work, so it neither replaces anything nor is kept.
    """
    incoming = accounts.decode(_read(file), str(file))
    paths = _paths(own, lessons)
    there = {step: each for step, each in incoming.files.items() if step in paths and not _is_starter(step, each, own)}
    imported = Imported(unknown=sorted(set(incoming.files) - set(paths)))
    before: dict[Path, FileText | None] = {}
    try:
        # Alone, so that nothing that a window of the course saves meanwhile is replaced unseen.
        with own.alone(), kept.transaction() as database:
            here = {step: found for step, path in paths.items() if (found := _work(step, path, own))}
            together = accounts.merge(accounts.read_from(database), incoming)
            imported.attempts = accounts.write(database, together)
            for step, theirs in there.items():
                _merge_file(step, here.get(step), theirs, own, paths[step], imported, before)
    except BaseException:
        _put_back(before, imported.backups)
        raise
    return imported


def _merge_file(
    step: str,
    ours: FileText | None,
    theirs: FileText,
    own: Workspace,
    path: Path,
    imported: Imported,
    before: dict[Path, FileText | None],
) -> None:
    newest = theirs if ours is None else max(ours, theirs)
    if ours is not None and ours.text != theirs.text:
        other = min(ours, theirs)
        backup = own.keep_aside(step, path.suffix, other.text)
        if backup is not None:
            imported.backups.append(backup)
    if ours is None or newest.text != ours.text:
        before[path] = ours
        write_atomically(path, newest.text)
        imported.replaced.append(path)
    if ours is None or newest.changed_ns != ours.changed_ns:
        before.setdefault(path, ours)
        _date(path, newest)


def _put_back(before: dict[Path, FileText | None], backups: list[Path]) -> None:
    """Undo what was done to files, as far as the disk lets one."""
    for path, text in before.items():
        with contextlib.suppress(WorkspaceError, OSError):
            if text is None:
                path.unlink(missing_ok=True)
            else:
                write_atomically(path, text.text)
                _date(path, text)
    for backup in backups:
        with contextlib.suppress(OSError):
            backup.unlink()


def _date(path: Path, text: FileText) -> None:
    """Give a file the time at which its text was written, so that merging once more finds nothing newer."""
    with contextlib.suppress(OSError):
        os.utime(path, ns=(text.changed_ns, text.changed_ns))


def _paths(own: Workspace, lessons: Catalog) -> dict[str, Path]:
    """Where the work on each exercise and quiz lies: only these files are read and written, whatever a file says."""
    return {
        step.id: own.answers_path(step.lesson) if step.kind == "quiz" else own.path(step.id)
        for step in lessons.graded()
    }


def _work(step: str, path: Path, own: Workspace) -> FileText | None:
    """The text of a file of the learner's, None where there is none or it is as it was shipped."""
    try:
        with path.open("rb") as file:
            data = file.read(4 * MAX_TEXT + 1)
            changed_ns = os.fstat(file.fileno()).st_mtime_ns
        text = data.decode()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WorkspaceError(_("{path} can't be read: {reason}.", path=path, reason=error.strerror)) from error
    except UnicodeDecodeError as error:
        raise WorkspaceError(
            _("{path} isn't UTF-8 text (byte {byte}). Save it as UTF-8 in your editor.", path=path, byte=error.start)
        ) from error
    if len(text) > MAX_TEXT:
        raise WorkspaceError(
            _(
                "{path} is larger than {most_kb} kB. Make it smaller, or move it away.",
                path=path,
                most_kb=MAX_TEXT // 1000,
            )
        )
    found = FileText(max(changed_ns, 0), text)
    return None if _is_starter(step, found, own) else found


def _is_starter(step: str, found: FileText, own: Workspace) -> bool:
    if step.endswith("/quiz"):
        return False
    try:
        return own.is_starter(step, found.text)
    except WorkspaceError:
        return False


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise AccountsUnreadable(_("{path} can't be read: {reason}.", path=file, reason=error.strerror)) from error
    if len(data) > MAX_BYTES:
        raise AccountsUnreadable(
            _(
                "{file} is larger than {most_mib} MiB: it can't be what 'profile-first progress export' wrote.",
                file=file,
                most_mib=MAX_BYTES >> 20,
            )
        )
    return data
