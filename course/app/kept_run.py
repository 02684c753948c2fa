"""The last run as a file, so that its timeline can be opened after a restart, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from course.app.runs import Kind
from course.workspace import WorkspaceError, write_atomically

MOST_BYTES = 20_000_000
"""A run that takes more isn't kept."""


class KeptGpu(msgspec.Struct, frozen=True):
    """The GPU that a run was on."""

    kind: str
    name: str


class KeptRun(msgspec.Struct, frozen=True):
    """What the lab saw of a run, and what it was a run of."""

    name: str
    kind: Kind
    key: str
    gpu: KeptGpu | None
    events: list[dict[str, Any]]


def write(file: Path, run: KeptRun) -> None:
    """Keep a run in the place of the one before; where that can't be, none is kept."""
    try:
        data = msgspec.json.encode(run)
        if len(data) <= MOST_BYTES:
            write_atomically(file, data)
            return
    except (TypeError, ValueError, WorkspaceError):
        pass
    file.unlink(missing_ok=True)  # an older run in its place would be taken for it


def read(file: Path) -> KeptRun | None:
    """The run that was kept, or None where it can't be read."""
    try:
        with file.open("rb") as kept:
            data = kept.read(MOST_BYTES + 1)
        return msgspec.json.decode(data, type=KeptRun) if len(data) <= MOST_BYTES else None
    except (OSError, ValueError, RecursionError):
        return None
