"""The reader's language: the one that is told, else the one that was chosen before, else that of the system."""

from __future__ import annotations

import contextlib
from pathlib import Path

from course import folders
from lab import language

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
    return [language.OPTION, _told] if _told else []
