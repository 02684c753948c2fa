"""The reader's language: the one that is told, else the one that was chosen before, else that of the system."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from course import folders
from lab import language

OPTION = "--lang"

_told: str | None = None


def _file() -> Path:
    # A file of its own: `--help` has to know it too, and opening the progress takes longer than all the rest of that.
    return folders.home() / "language"


def kept() -> str | None:
    """What was chosen in the app."""
    try:
        return language.known(_file().read_text(encoding="utf-8").strip())
    except (OSError, ValueError):
        return None


def keep(code: str) -> None:
    """Begin in this language the next time; where that can't be written, the next start begins as this one did."""
    with contextlib.suppress(OSError):
        _file().parent.mkdir(parents=True, exist_ok=True)
        _file().write_text(f"{code}\n", encoding="utf-8")


def begin(told: str | None = None) -> None:
    """Speak the reader's language from now on."""
    global _told
    _told = told
    again()


def again() -> None:
    """Speak the reader's language, which may have been chosen anew in another process."""
    language.use(_told or language.of_environment(kept=kept()))


def as_told() -> list[str]:
    """What lets a program that is started from here speak as this one was told to, if it was."""
    return [OPTION, _told] if _told else []


def told(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """What `--lang` says, wherever it stands, and the other arguments. What follows `run FILE` is the program's own.

    Raises ValueError where it names no language that there is.
    """
    chosen: str | None = None
    rest: list[str] = []
    left = iter(arguments)
    for argument in left:
        name, equals, value = argument.partition("=")
        if name == OPTION:
            value = value if equals else next(left, "")
            chosen = language.known(value) if value else None
            if chosen is None:
                raise ValueError(value)
        else:
            rest.append(argument)
        if len(rest) == 2 and rest[0] == "run":
            break
    return chosen, [*rest, *left]
