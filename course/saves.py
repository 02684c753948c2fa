"""Notices that files were saved, with any editor and on any file system.

Editors write a file in place, in several parts, through a temporary file that takes its name, or delete it first. So
what the system reports about a folder is only a reason to look: a file counts as saved once its content is another one
and stays the same for a moment. Files are looked at once a second as well, since network and container file systems
report nothing; and where the system can't report at all, more often.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lab.language import ngettext

LOOK_MS = 1000
POLL_S = 0.25
SETTLE_S = 0.03
MOST_SETTLES = 30  # about a second; whoever writes for longer is noticed again
MAX_BYTES = 10_000_001

Stamp = tuple[int, int, int]


class Saves:
    """Calls `on_save` from a thread of its own, with each file that was saved and when that was noticed."""

    def __init__(
        self,
        files: Sequence[Path],
        on_save: Callable[[Path, float], None],
        *,
        poll: bool = False,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._on_save = on_save
        self._poll = poll
        self._tell = tell
        self._ended = threading.Event()
        self._stamps = {file: _stamp(file) for file in files}
        self._contents = {file: _digest(file) for file in files}
        self._thread = threading.Thread(target=self._look_on, name="saves", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()

    def _look_on(self) -> None:
        folders = sorted({file.parent for file in self._stamps})
        for _ in _reasons_to_look(folders, self._ended, self._poll, self._tell):
            for file in self._stamps:
                self._look_at(file)

    def _look_at(self, file: Path) -> None:
        if _stamp(file) == self._stamps[file]:
            return
        noticed_s = time.monotonic()
        self._stamps[file] = self._settled(file)
        if self._stamps[file] is None:
            return  # gone, perhaps only until its new version takes its place
        content = _digest(file)
        if content != self._contents[file]:
            self._contents[file] = content
            self._on_save(file, noticed_s)

    def _settled(self, file: Path) -> Stamp | None:
        """The file's stamp once nobody writes to it any more."""
        stamp = _stamp(file)
        for _ in range(MOST_SETTLES):
            self._ended.wait(SETTLE_S)
            before, stamp = stamp, _stamp(file)
            if stamp == before:
                break
        return stamp


def _stamp(file: Path) -> Stamp | None:
    """What changes when a file is written: its time, size and number."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _digest(file: Path) -> bytes | None:
    try:
        with file.open("rb") as opened:
            return hashlib.sha256(opened.read(MAX_BYTES)).digest()
    except OSError:
        return None


def _reasons_to_look(
    folders: Sequence[Path], ended: threading.Event, poll: bool, tell: Callable[[str], None]
) -> Iterator[None]:
    """Yields when something in a folder may have changed, and at least once a second."""
    while not poll and not ended.is_set():
        try:
            yield from _reports(folders, ended)
        except Exception as error:  # the system's limit on watches, a file system without reports, no such library
            tell(
                ngettext(
                    "the system doesn't report saved files here ({error}), so they are looked at {n} time a second.",
                    "the system doesn't report saved files here ({error}), so they are looked at {n} times a second.",
                    round(1 / POLL_S),
                    error=error,
                )
            )
            break
    while not ended.wait(POLL_S):
        yield


def _reports(folders: Sequence[Path], ended: threading.Event) -> Iterator[None]:
    """What the system reports, until a folder is another one than before: then it has to be asked anew."""
    from watchfiles import watch

    yield  # something may have been saved before the system was asked to report
    known = [_number(folder) for folder in folders]
    there = [folder for folder, number in zip(folders, known, strict=True) if number is not None]
    if not there:
        ended.wait(LOOK_MS / 1000)
        return
    for _ in watch(
        *there,
        watch_filter=None,
        recursive=False,
        step=10,
        debounce=50,
        rust_timeout=LOOK_MS,
        yield_on_timeout=True,
        stop_event=ended,
        raise_interrupt=False,
    ):
        yield
        if [_number(folder) for folder in folders] != known:
            return


def _number(folder: Path) -> int | None:
    try:
        return folder.stat().st_ino
    except OSError:
        return None
