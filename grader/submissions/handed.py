"""Lists every file that was handed in, through archives too, without following a link."""

from __future__ import annotations

import contextlib
import os
import stat
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from grader.batch.records import NotAssigned
from grader.submissions.archives import ZIP, ArchiveRefused, Opener, Share
from grader.submissions.hand_in import HAND_IN
from grader.submissions.known import GRADED
from grader.submissions.layouts import GRADESCOPE_LIST, NBGRADER_TIME
from lab.language import N_, _, ngettext

READ = (GRADESCOPE_LIST, NBGRADER_TIME, HAND_IN)
MAX_DEPTH = 40
OTHER_ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst")
# What programs leave behind, and nobody hands in on purpose.
_LEFT_BEHIND = {
    "__MACOSX": N_("what macOS keeps beside files"),
    ".git": N_("a repository of Git"),
    "__pycache__": N_("compiled code"),
    ".ipynb_checkpoints": N_("older states of notebooks, as Jupyter keeps them"),
    ".venv": N_("installed packages"),
    "venv": N_("installed packages"),
    "site-packages": N_("installed packages"),
    "node_modules": N_("installed packages"),
    ".pytest_cache": N_("what pytest keeps"),
    ".vscode": N_("settings of an editor"),
    ".idea": N_("settings of an editor"),
}
_LEFT_FILES = (".DS_Store", "Thumbs.db", "desktop.ini", ".gitignore", ".gitkeep")


@dataclass(frozen=True)
class Handed:
    """A file that may be a submission."""

    parts: tuple[str, ...]
    """Its path below what was given, with archives as folders."""
    shown: str
    """That path for people and for JSON."""
    file: Path
    archive_date_s: float | None
    """The date in the outermost archive that gives one."""
    disk_date_s: float


@dataclass
class Listing:
    """What lies below a path."""

    handed: list[Handed]
    read: list[Handed]
    """Files that say who handed in, and when."""
    refused: list[NotAssigned]


def list_all(path: Path, opener: Opener) -> Listing:
    """Every file at or below the path."""
    listing = Listing([], [], [])
    if path.is_dir():
        _folder(path, (), opener, listing)
    else:
        _file(Handed((path.name,), shown((path.name,)), path, None, path.stat().st_mtime), 0, None, opener, listing)
    return listing


def _folder(folder: Path, parts: tuple[str, ...], opener: Opener, listing: Listing) -> None:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        listing.refused.append(
            NotAssigned(f"{shown(parts)}/", _("the folder can't be read: {reason}.", reason=error.strerror))
        )
        return
    for entry in entries:
        here = (*parts, entry.name)
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            listing.refused.append(NotAssigned(shown(here), _("it can't be read: {reason}.", reason=error.strerror)))
            continue
        if stat.S_ISDIR(status.st_mode):
            if (what := _LEFT_BEHIND.get(entry.name)) is not None:
                count = _count(Path(entry.path))
                listing.refused.append(NotAssigned(f"{shown(here)}/", _no_submissions(what, count)))
            elif len(here) > MAX_DEPTH:
                why = _("it lies {n} folders deep, and {most} are looked into.", n=len(here), most=MAX_DEPTH)
                listing.refused.append(NotAssigned(f"{shown(here)}/", why))
            else:
                _folder(Path(entry.path), here, opener, listing)
        elif stat.S_ISREG(status.st_mode):
            _file(Handed(here, shown(here), Path(entry.path), None, status.st_mtime), 0, None, opener, listing)
        else:
            link = stat.S_ISLNK(status.st_mode)
            why = (
                _("it is a link, and links aren't followed.")
                if link
                else _("it is a device, a pipe or a socket, no file.")
            )
            listing.refused.append(NotAssigned(shown(here), why))


def _no_submissions(what: str, count: int) -> str:
    return ngettext("{what} ({n} file), no submission.", "{what} ({n} files), no submission.", count, what=_(what))


def _count(folder: Path) -> int:
    """How many files lie at any depth below a folder."""
    count, folders = 0, [folder]
    while folders:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
                else:
                    count += 1
    return count


def _file(here: Handed, depth: int, share: Share | None, opener: Opener, to: Listing) -> None:
    name = here.parts[-1]
    suffix = Path(name).suffix.casefold()
    if name in READ:
        to.read.append(here)
    elif (why := _no_submission(name, suffix, here.parts)) is not None:
        to.refused.append(NotAssigned(here.shown, why))
    elif not os.access(here.file, os.R_OK):
        to.refused.append(NotAssigned(here.shown, _("it can't be read: you have no right to.")))
    elif suffix == ZIP:
        _archive(here, depth + 1, opener.share(depth + 1, share), opener, to)
    elif here.file.suffix != suffix:
        # Whether something is a notebook is told by the end of its name as it is written on disk.
        to.refused.append(
            NotAssigned(
                here.shown, _("its name ends in {suffix}. Rename it to {right}.", suffix=here.file.suffix, right=suffix)
            )
        )
    else:
        to.handed.append(here)


def _no_submission(name: str, suffix: str, parts: tuple[str, ...]) -> str | None:
    if any(unicodedata.category(c) in ("Cc", "Cs") for part in parts for c in part):
        return _("its path has characters that can't be shown. Rename it.")
    if name in _LEFT_FILES or name.startswith("._"):
        return _("a file of the system, no submission.")
    if suffix in OTHER_ARCHIVES:
        return _(
            "archives of the kind {suffix} aren't opened. Unpack it in its place, or ask for a zip archive.",
            suffix=suffix,
        )
    if suffix not in (*GRADED, ZIP):
        kind = _("files of the kind {suffix}", suffix=suffix) if suffix else _("files without an ending")
        return _("{kind} aren't graded; {listed} and {zip} are.", kind=kind, listed=", ".join(GRADED), zip=ZIP)
    return None


def _archive(archive: Handed, depth: int, share: Share, opener: Opener, to: Listing) -> None:
    try:
        members = opener.open(archive.file, depth, share, _wanted)
    except ArchiveRefused as error:
        to.refused.append(NotAssigned(archive.shown, _("the archive isn't opened: {reason}", reason=error)))
        return
    if not members:
        to.refused.append(NotAssigned(archive.shown, _("the archive is empty.")))
    left: dict[tuple[str, ...], int] = {}
    for member in members:
        parts = (*archive.parts, *member.parts)
        if (depth_left := _left_behind(member.parts)) is not None:
            folder = parts[: len(archive.parts) + depth_left + 1]
            left[folder] = left.get(folder, 0) + 1
        elif member.refused is not None:
            to.refused.append(NotAssigned(shown(parts), member.refused))
        elif member.file is None:
            why = _no_submission(parts[-1], Path(parts[-1]).suffix.casefold(), parts) or _("it isn't graded.")
            to.refused.append(NotAssigned(shown(parts), why))
        else:
            date_s = archive.archive_date_s if archive.archive_date_s is not None else member.dated_s
            _file(Handed(parts, shown(parts), member.file, date_s, archive.disk_date_s), depth, share, opener, to)
    for folder, count in left.items():
        to.refused.append(NotAssigned(f"{shown(folder)}/", _no_submissions(_LEFT_BEHIND[folder[-1]], count)))


def _wanted(parts: tuple[str, ...]) -> bool:
    return _left_behind(parts) is None and parts[-1].casefold().endswith((*GRADED, ZIP, *READ))


def _left_behind(parts: tuple[str, ...]) -> int | None:
    """The position of the folder that nobody hands in on purpose."""
    return next((i for i, part in enumerate(parts[:-1]) if part in _LEFT_BEHIND), None)


def shown(parts: tuple[str, ...]) -> str:
    """A path for people and for JSON, two different ones always differently."""
    return "".join(
        f"\\u{ord(c):04x}" if c == "\\" or unicodedata.category(c) in ("Cc", "Cs") else c for c in "/".join(parts)
    )
