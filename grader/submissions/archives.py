"""Opens zip archives that nobody vouches for: nothing of a member's name decides where it is written."""

from __future__ import annotations

import calendar
import contextlib
import re
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath
from time import mktime
from typing import BinaryIO

from grader.errors import GraderError
from grader.source import MAX_NOTEBOOK_BYTES
from lab.language import _

ZIP = ".zip"
_UTF8_NAME = 0x800  # the flag of a member whose name is UTF-8
_ENCRYPTED = 0x1
_UNIX = 3
_EXTENDED_TIME, _UNICODE_PATH = 0x5455, 0x7075
_MEMBER_BYTES = 400  # of the list of members, for one with a long path
_NO_DATE = (1980, 1, 1, 0, 0, 0)  # the first that a zip can hold, written where there is none
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)


class ArchiveRefused(Exception):
    """The archive as a whole isn't opened; the message says why and what to do."""


class OpeningFailed(GraderError):
    """What is in an archive can't be written here, which is no fault of whoever handed it in."""


@dataclass(frozen=True)
class Limits:
    """How much is taken out of archives.

    An archive that was given may be that of a whole class. One within it is a student's: it has a share of its own,
    with all that is in it, so that nobody can use up what the others need.
    """

    depth: int = 4
    """Archives within archives; one zip of a class that holds one zip a student has two."""
    members: int = 50_000
    """In one archive."""
    given_members: int = 300_000
    given_bytes: int = 8_000_000_000
    inner_members: int = 50_000
    inner_bytes: int = 300_000_000
    archive_bytes: int = 100_000_000
    """Of an archive within an archive."""
    member_bytes: int = 2 * MAX_NOTEBOOK_BYTES
    ratio: int = 200
    """How many times smaller a member may have become. Python code rarely gets beyond 10."""
    archive_ratio: int = 20
    """The same for an archive within an archive, which is compressed already."""


@dataclass
class Share:
    """What may still be taken out of an archive and those in it."""

    members_left: int
    bytes_left: int


@dataclass(frozen=True)
class Member:
    """One file of an archive."""

    parts: tuple[str, ...]
    """Its path within the archive."""
    dated_s: float | None
    """The date that the archive gives it, in seconds since 1970."""
    file: Path | None = None
    """Where its content is; None where it wasn't wanted."""
    refused: str | None = None
    """Why it wasn't taken out."""


class Opener:
    """Takes members out of archives into a private folder, under names that this program chooses."""

    def __init__(self, into: Path, limits: Limits | None = None) -> None:
        self.into = into
        self.limits = limits or Limits()
        self._numbers = count(1)
        self._own: Path | None = None

    def share(self, depth: int, outer: Share | None) -> Share:
        """What an archive at this depth may hold, within another one that has that share."""
        if depth <= 1 or outer is None:
            return Share(self.limits.given_members, self.limits.given_bytes)
        return Share(self.limits.inner_members, self.limits.inner_bytes) if depth == 2 else outer

    def open(self, archive: Path, depth: int, share: Share, wanted: Callable[[tuple[str, ...]], bool]) -> list[Member]:
        """The members of a zip archive, those whose paths are wanted with their content.

        Raises ArchiveRefused where the whole of it can't be trusted or read.
        """
        if depth > self.limits.depth:
            raise ArchiveRefused(
                _(
                    "it lies {depth} archives deep, and {deepest} are opened. Unpack it, and give the folder.",
                    depth=depth,
                    deepest=self.limits.depth,
                )
            )
        try:
            if _directory_bytes(archive) > self.limits.members * _MEMBER_BYTES:
                raise ArchiveRefused(
                    _(
                        "it lists more files than the {members} that are taken from one archive. Ask for the exercise "
                        "files alone.",
                        members=self.limits.members,
                    )
                )
            with zipfile.ZipFile(archive) as opened:
                infos = [info for info in opened.infolist() if not info.is_dir()]
                self._insist_on_sound(infos, archive.stat().st_size, share)
                return list(self._members(opened, infos, share, wanted))
        except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, struct.error, ValueError) as error:
            raise ArchiveRefused(
                _(
                    "it can't be read as a zip archive ({reason}): cut off, damaged or of another kind. Ask for it "
                    "again.",
                    reason=_short(error),
                )
            ) from error
        except (NotImplementedError, RuntimeError) as error:
            raise ArchiveRefused(
                _("it can't be read ({reason}). Ask for an ordinary zip archive.", reason=_short(error))
            ) from error
        except OSError as error:
            raise ArchiveRefused(_("it can't be read: {reason}.", reason=error.strerror or _short(error))) from error

    def _insist_on_sound(self, infos: list[zipfile.ZipInfo], size: int, share: Share) -> None:
        if len(infos) > min(self.limits.members, share.members_left):
            raise ArchiveRefused(
                _(
                    "it holds {n} files; {members} are taken from one archive, and {inner_members} from all that a "
                    "student hands in. Ask for the exercise files alone.",
                    n=len(infos),
                    members=self.limits.members,
                    inner_members=self.limits.inner_members,
                )
            )
        share.members_left -= len(infos)
        # A small archive can unpack to petabytes when members share their compressed data.
        places = {info.header_offset for info in infos}
        if len(places) < len(infos) or sum(info.compress_size for info in infos) > size:
            raise ArchiveRefused(
                _("its files overlap, as only archives do that were made to do harm. It isn't opened.")
            )

    def _members(
        self,
        opened: zipfile.ZipFile,
        infos: list[zipfile.ZipInfo],
        share: Share,
        wanted: Callable[[tuple[str, ...]], bool],
    ) -> Iterator[Member]:
        named = [(_name(info), info) for info in infos]
        exact = Counter(_parts(name) for name, _info in named)
        folded = Counter(_folded(parts) for parts in exact)
        folders = {_folded(parts[:i]) for parts in exact for i in range(1, len(parts))}
        for name, info in named:
            parts = _parts(name)
            refused = _untrusted_name(name, info) or self._untrusted_member(info)
            if refused is None and exact[parts] > 1:
                refused = _("the archive holds it twice, and which one is meant can't be told. Ask for it again.")
            elif refused is None and (folded[_folded(parts)] > 1 or _folded(parts) in folders):
                refused = _("the archive holds something else of this name, but for capital letters. Ask for it again.")
            file = None
            if refused is None and wanted(parts):
                file, refused = self._taken_out(opened, info, share, parts[-1])
            yield Member(parts or (info.filename,), _dated_s(info), file, refused)

    def _untrusted_member(self, info: zipfile.ZipInfo) -> str | None:
        kind = stat.S_IFMT(info.external_attr >> 16) if info.create_system == _UNIX else 0
        if kind == stat.S_IFLNK:
            return _("it is a link, and links aren't followed. Ask for the file itself.")
        if kind not in (0, stat.S_IFREG):
            return _("it is a device, a pipe or a socket, no file.")
        if info.flag_bits & _ENCRYPTED:
            return _("it is encrypted. Ask for an archive without a password.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            return _("it was compressed in a way that isn't read here. Ask for an ordinary zip archive.")
        is_archive = info.filename.casefold().endswith(ZIP)
        limit = self.limits.archive_bytes if is_archive else self.limits.member_bytes
        ratio = self.limits.archive_ratio if is_archive else self.limits.ratio
        if info.file_size > limit:
            return _(
                "it would be {size_mb:,.0f} MB large; {most_mb:g} MB are taken out.",
                size_mb=info.file_size / 1e6,
                most_mb=limit / 1e6,
            )
        if info.file_size > 1_000_000 and info.file_size > ratio * max(info.compress_size, 1):
            return _("it was compressed more than {ratio} times, as only a trap for unpackers is.", ratio=ratio)
        return None

    def _taken_out(
        self, opened: zipfile.ZipFile, info: zipfile.ZipInfo, share: Share, name: str
    ) -> tuple[Path | None, str | None]:
        if info.file_size > share.bytes_left:
            return None, _("with what stands before it in the archive, it is more than is taken out of one.")
        file = self._new_file(name)
        try:
            with opened.open(info) as source, file.open("xb") as copy:
                while block := source.read(1 << 16):
                    share.bytes_left -= len(block)
                    _write(copy, block)
        except _UNREADABLE as error:
            file.unlink(missing_ok=True)
            return None, _(
                "its content can't be read ({reason}): the archive is damaged. Ask for it again.", reason=_short(error)
            )
        return file, None

    def _new_file(self, name: str) -> Path:
        try:
            if self._own is None:
                self.into.mkdir(parents=True, exist_ok=True)
                self._own = Path(tempfile.mkdtemp(dir=self.into))  # only its owner may look into it
            folder = self._own / f"{next(self._numbers):06d}"
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise OpeningFailed(_own_fault(error)) from error
        return folder / safe_file_name(name)


def _write(copy: BinaryIO, block: bytes) -> None:
    try:
        copy.write(block)
        copy.flush()
    except OSError as error:
        raise OpeningFailed(_own_fault(error)) from error


def _own_fault(error: OSError) -> str:
    return _("Archives can't be opened here: {reason}. Free some space, or name another folder.", reason=error.strerror)


def _directory_bytes(archive: Path) -> int:
    """How long the list of members says it is, before anything is made of it; 0 where it doesn't say."""
    size = archive.stat().st_size
    with archive.open("rb") as file:
        file.seek(max(0, size - (1 << 16) - 100))
        tail = file.read()
    said = [
        struct.unpack_from(form, tail, found.start() + at)[0]
        for signature, form, at in ((b"PK\x05\x06", "<I", 12), (b"PK\x06\x06", "<Q", 40))
        for found in re.finditer(re.escape(signature), tail)
        if found.start() + at + struct.calcsize(form) <= len(tail)
    ]
    return max((each for each in said if each <= size), default=0)


def safe_file_name(name: str) -> str:
    """A name for a file of ours that resembles theirs: messages about the code give it."""
    stem, dot, suffix = name.rpartition(".")
    kept = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", stem if dot else name)).strip("._")[:60]
    return f"{kept or 'file'}.{re.sub('[^a-z0-9]', '', suffix.casefold())[:8]}" if dot else kept or "file"


def _name(info: zipfile.ZipInfo) -> str:
    """The member's name; zip's own code page is a guess that is wrong more often than UTF-8 is."""
    name = info.orig_filename
    if not info.flag_bits & _UTF8_NAME:
        raw = name.encode("cp437", "replace")
        unicode_path = dict(_extras(info.extra)).get(_UNICODE_PATH, b"")
        if len(unicode_path) > 5 and struct.unpack("<I", unicode_path[1:5])[0] == zlib.crc32(raw):
            raw = unicode_path[5:]
        with contextlib.suppress(UnicodeDecodeError):
            name = raw.decode()
    return name.replace("\\", "/")  # as some programs on Windows separate folders


def _parts(name: str) -> tuple[str, ...]:
    return PurePosixPath(name).parts


def _folded(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFC", part).casefold() for part in parts)


def _untrusted_name(name: str, info: zipfile.ZipInfo) -> str | None:
    parts = _parts(name)
    if not parts:
        return _("it has no name.")
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return _("its path begins at the root of the disk, as no path in an archive may.")
    if ".." in parts:
        return _("its path leads out of the archive (..).")
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in name):
        return _("its name has characters that can't be shown.")
    if len(name) > 1000 or max(len(part.encode()) for part in parts) > 255:
        return _("its name is too long.")
    return None


def _dated_s(info: zipfile.ZipInfo) -> float | None:
    """When the member was last changed, as far as the archive tells."""
    extended = dict(_extras(info.extra)).get(_EXTENDED_TIME, b"")
    if len(extended) >= 5 and extended[0] & 1:
        return float(struct.unpack("<i", extended[1:5])[0])
    if info.date_time <= _NO_DATE:
        return None
    try:
        # Without a time zone, it is that of the computer that made it; most often that of the class.
        calendar.timegm((*info.date_time, 0, 0, 0))
        return mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return None


def _extras(extra: bytes) -> Iterator[tuple[int, bytes]]:
    while len(extra) >= 4:
        kind, size = struct.unpack("<HH", extra[:4])
        yield kind, extra[4 : 4 + size]
        extra = extra[4 + size :]


def _short(error: Exception) -> str:
    return re.sub(r"[^\x20-\x7e]", "?", str(error))[:100] or type(error).__name__
