"""The bytes of a trace file, unpacked and as UTF-8, in pieces, whatever the file's name says."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from lab.language import N_, _
from lab.trace.errors import TraceUnreadable

PIECE_BYTES = 2**20
Progress = Callable[[int, int], None]  # bytes of the file that are done, and in all

GZIP = b"\x1f\x8b"
OTHERS = {
    b"PK\x03\x04": N_("a zip archive. Unpack it and give the file inside"),
    b"\x28\xb5\x2f\xfd": N_("compressed with zstd. Unpack it with 'zstd -d'"),
    b"BZh": N_("compressed with bzip2. Unpack it with 'bunzip2'"),
    b"\xfd7zXZ": N_("compressed with xz. Unpack it with 'unxz'"),
    b"\x80\x02": N_("a pickle"),
    b"\x80\x03": N_("a pickle"),
    b"\x80\x04": N_("a pickle"),
    b"SQLite format 3": N_("a database, perhaps of Nsight Systems. A PyTorch trace is a .json or .json.gz file"),
    b"%PDF": N_("a PDF"),
    b"\x89PNG": N_("a picture"),
    b"\x7fELF": N_("a program"),
}


class Source:
    """A file that is read once, from its begin to its end."""

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self.progress = progress
        self.warnings: list[str] = []
        self.cut_short = False
        self.total_bytes = 0

    def pieces(self) -> Iterator[bytes]:
        """UTF-8, unpacked."""
        unpacked = self._unpacked()
        first = next(unpacked, b"")
        while len(first) < 4 and (more := next(unpacked, b"")):
            first += more
        encoding = _encoding(first)
        if encoding == "utf-8":
            yield first.removeprefix(codecs.BOM_UTF8)
            yield from unpacked
            return
        self.warnings.append(_("The file is {encoding} text; it was read as such.", encoding=encoding.upper()))
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        yield decoder.decode(first).lstrip("\ufeff").encode("utf-8", "replace")
        for piece in unpacked:
            yield decoder.decode(piece).encode("utf-8", "replace")
        yield decoder.decode(b"", final=True).encode("utf-8", "replace")

    def _unpacked(self) -> Iterator[bytes]:
        packed = self._packed()
        first = next(packed, b"")
        if not first.startswith(GZIP):
            yield first
            yield from packed
            return
        unpacker = zlib.decompressobj(31)
        before = unpacker.copy()
        piece, seen = first, False
        while True:
            try:
                while piece:
                    before = unpacker.copy()
                    unpacked = unpacker.decompress(piece, PIECE_BYTES * 4)
                    piece = unpacker.unconsumed_tail
                    if unpacked:
                        seen = True
                        yield unpacked
                    if unpacker.eof:
                        piece = unpacker.unused_data.lstrip(b"\0")
                        if not piece.startswith(GZIP):
                            break
                        unpacker = zlib.decompressobj(31)
            except zlib.error as error:
                for unpacked in _up_to_the_damage(before, piece):
                    seen = True
                    yield unpacked
                if not seen:
                    raise TraceUnreadable(
                        _(
                            "{path}: its gzip data is damaged from the start ({error}). Copy or record it again.",
                            path=self.path,
                            error=error,
                        )
                    ) from None
                self.cut_short = True
                self.warnings.append(_("The gzip data is damaged: what came after the damage is lost."))
                return
            piece = next(packed, b"")
            if not piece:
                break
            if unpacker.eof:
                if not piece.startswith(GZIP):
                    return
                unpacker = zlib.decompressobj(31)
        if not unpacker.eof:
            yield unpacker.flush()
            self.cut_short = True
            self.warnings.append(_("The gzip data is cut short: what came after its end is lost."))

    def _packed(self) -> Iterator[bytes]:
        try:
            self.total_bytes = self.path.stat().st_size
            with self.path.open("rb") as file:
                done = 0
                while piece := file.read(PIECE_BYTES):
                    if not done:
                        self._refuse_others(piece)
                    done += len(piece)
                    yield piece
                    if self.progress is not None:
                        self.progress(done, max(self.total_bytes, done))
        except IsADirectoryError:
            raise TraceUnreadable(_folder(self.path)) from None
        except FileNotFoundError:
            raise TraceUnreadable(_("there is no file {path!r}.", path=str(self.path))) from None
        except OSError as error:
            raise TraceUnreadable(
                _("{path} can't be read: {reason}.", path=self.path, reason=error.strerror or error)
            ) from None

    def _refuse_others(self, begin: bytes) -> None:
        for magic, what in OTHERS.items():
            if begin.startswith(magic):
                raise TraceUnreadable(_("{path} is {what}.", path=self.path, what=_(what)))


def _up_to_the_damage(unpacker: zlib._Decompress, piece: bytes) -> Iterator[bytes]:
    """What comes out of damaged data when it goes in byte by byte."""
    try:
        for at in range(len(piece)):
            if unpacked := unpacker.decompress(piece[at : at + 1]):
                yield unpacked
    except zlib.error:
        return


def _encoding(begin: bytes) -> str:
    if begin.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if len(begin) >= 2 and begin[1] == 0 and begin[0] in b"{[ \n":
        return "utf-16-le"
    if len(begin) >= 2 and begin[0] == 0 and begin[1] in b"{[ \n":
        return "utf-16-be"
    return "utf-8"


def _folder(path: Path) -> str:
    try:
        traces = sorted(each.name for each in path.iterdir() if each.name.endswith((".json", ".json.gz")))
    except OSError:
        traces = []
    if not traces:
        return _("{path} is a folder, and no trace is in it. Give the path of a .json or .json.gz file.", path=path)
    some = ", ".join(traces[:3]) + (", …" if len(traces) > 3 else "")
    return _("{path} is a folder. Give the path of a trace; in it are {some}.", path=path, some=some)
