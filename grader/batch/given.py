"""What an instructor gave with an earlier run is kept among the results, so that a later run goes on with it."""

from __future__ import annotations

import argparse
import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grader.errors import GraderError
from grader.reports.files import write
from lab.language import N_, _

FOLDER = "given"
SOURCES = "sources.json"
FILES = {"roster": "roster.csv", "overrides": "overrides.csv", "policy": "policy.toml"}
"""The options whose files are kept, and the names of the copies."""
SAID = {
    "roster": (N_("Roster: {source}"), N_("Roster: {source}, as it was when it was last given.")),
    "overrides": (N_("Points set by hand: {source}"), N_("Points set by hand: {source}, as it was when last given.")),
    "policy": (N_("Policy: {source}"), N_("Policy: {source}, as it was when it was last given.")),
}


class GivenUnreadable(GraderError):
    """What was kept of an earlier run can't be read, or something new can't be kept."""


@dataclass(frozen=True)
class Given:
    """A file that a run goes by."""

    option: str
    path: Path
    """Where it is read."""
    source: str
    """Where the instructor has it."""
    kept: bool
    """Whether it is the copy of one that was given with an earlier run."""

    def says(self) -> Iterator[str]:
        """Which file it is, and how to have another."""
        now, before = SAID[self.option]
        if not self.kept:
            yield _(now, source=self.source)
            return
        yield _(before, source=self.source)
        if self._changed_since():
            yield _("  It has changed since. To go by it as it is now: --{option} FILE", option=self.option)
        yield _("  Another one: --{option} FILE. None: --no-{option}.", option=self.option)

    def _changed_since(self) -> bool:
        source = Path(self.source)
        with suppress(OSError, ValueError):  # a name that no file can have, in a list that was damaged
            # The keyboard, or a pipe, would be waited for.
            return source.is_file() and source.read_bytes() != self.path.read_bytes()
        return False


def add_option(parser: argparse._ActionsContainer, name: str, kind: str, text: str, dropped: str) -> None:
    """The option that gives a file, and the one that drops what was given before."""
    either = parser.add_mutually_exclusive_group()
    either.add_argument(f"--{name}", type=Path, metavar=kind, help=text)
    either.add_argument(f"--no-{name}", action="store_true", help=dropped)


def given(options: argparse.Namespace, out: Path) -> dict[str, Given]:
    """By option, the file that this run goes by: the one that is given now, else a kept one, unless it is dropped."""
    sources = _sources(out)
    found = {}
    for option, name in FILES.items():
        copy, path = out / FOLDER / name, getattr(options, option)
        if path is not None and not (copy.exists() and path.exists() and path.samefile(copy)):
            found[option] = Given(option, _to_be_read_again(path), _printable(path.absolute()), kept=False)
        elif path is not None or (copy.exists() and not getattr(options, f"no_{option}")):
            found[option] = Given(option, copy, sources.get(option, str(copy)), kept=True)
    return found


def _to_be_read_again(path: Path) -> Path:
    """The file, or what comes through a pipe (`--roster <(...)`) as a file: it is read, and once more to be kept."""
    if not path.is_fifo():
        return path
    folder = tempfile.mkdtemp(prefix="profile-first-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = Path(folder, path.name)
    copy.write_bytes(path.read_bytes())
    return copy


def _printable(path: Path) -> str:
    """Its name as text, also where that isn't UTF-8."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def keep(found: dict[str, Given], out: Path) -> None:
    """Keep copies of what this run goes by, and of nothing else. Call it when all of it is known to be usable."""
    sources = {option: each.source for option, each in found.items()}
    try:
        for option, name in FILES.items():
            copy = out / FOLDER / name
            if option not in found:
                copy.unlink(missing_ok=True)
            elif not found[option].kept:
                write(copy, found[option].path.read_bytes())
        if sources or (out / FOLDER).exists():
            write(out / FOLDER / SOURCES, msgspec.json.format(msgspec.json.encode(sources)) + b"\n")
    except OSError as error:
        raise GivenUnreadable(
            _("{path} can't be written: {reason}.", path=error.filename or out / FOLDER, reason=error.strerror)
        ) from error


def _sources(out: Path) -> dict[str, str]:
    path = out / FOLDER / SOURCES
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise GivenUnreadable(_("{path} can't be read: {reason}.", path=path, reason=error.strerror)) from error
    except msgspec.DecodeError as error:
        raise GivenUnreadable(
            _("{path} can't be read: {reason}. Delete it, and give what it named again.", path=path, reason=error)
        ) from error
