"""Reads traces in a process of its own, beside the app: with progress, and so that it can be stopped."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from course.app.runs import Shown
from course.trace_view import SpanArray, device_view, nothing_of_a_device
from lab.language import _, passed_on

LARGEST_LINE = 256 * 2**20
PIECE_BYTES = 2**20


class TracesUnread(Exception):
    """None of the files can be shown; the message says why."""


Told = Callable[[str, float | None], None]
"""What is done, and how much of it, as a share, where that is known."""


async def read_traces(paths: Sequence[Path], tell: Told) -> tuple[list[Shown], list[str]]:
    """What there is to show of the files, one for each device, and what is to be said beside it.

    Cancelling it ends the process that reads.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "course.trace_reader",
        *map(str, paths),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=LARGEST_LINE,
        start_new_session=True,
        env=passed_on(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    errors = asyncio.create_task(process.stderr.read())
    try:
        shown, notes = await _listen(process.stdout, tell, len(paths) > 1)
        await process.wait()
        if process.returncode or not (shown or notes):
            words = (await errors).decode(errors="replace").strip().splitlines()
            code = _("exit code {code}", code=process.returncode)
            raise TracesUnread(_("Reading ended early: {what}.", what=words[-1] if words else code))
    finally:
        errors.cancel()
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if not shown:
        raise TracesUnread("\n".join(notes))
    return shown, notes


async def _listen(stdout: asyncio.StreamReader, tell: Told, several: bool) -> tuple[list[Shown], list[str]]:
    shown: list[Shown] = []
    notes: list[str] = []
    file: dict[str, Any] = {}
    while line := await stdout.readline():
        message: dict[str, Any] = json.loads(line)
        arrays = {name: await _array(stdout, kind, length) for name, kind, length in message.get("arrays", ())}
        if "unreadable" in message:
            notes.append(_sentence(message["unreadable"]))
        elif "progress" in message:
            done, total = message["progress"]
            tell(_("Reading {file}", file=message["file"]), done / max(total, 1))
        elif "stage" in message:
            tell(f"{message['file']}: {message['stage']}", None)
        elif "done" in message:
            notes += [message[name] for name in ("ranks",) if message[name]]
        elif "diagnosis" in message:
            file = message | {"diagnosis": diagnosis_of(message["diagnosis"])}
            if not message["devices"]:
                gpu = _name(file, None, several)
                shown.append(Shown(nothing_of_a_device(), file["diagnosis"], gpu))
            else:
                from course.report import printable

                file["shown_texts"] = [printable(text)[:200] for text in message["texts"]]
                file["host"] = SpanArray(arrays, "host", file["shown_texts"])
        else:
            tell(_("Drawing {file}", file=file["file"]), None)
            for view in device_view(file, message, arrays):
                await asyncio.sleep(0)
                if view is not None:
                    shown.append(Shown(view, file["diagnosis"], _name(file, message, several)))
    return shown, notes


async def _array(stdout: asyncio.StreamReader, kind: str, length: int) -> array[Any]:
    found = array(kind)
    left = length
    while left:
        piece = await stdout.readexactly(min(left, PIECE_BYTES))
        found.frombytes(piece)
        left -= len(piece)
    return found


def _name(file: Mapping[str, Any], device: Mapping[str, Any] | None, several: bool) -> str:
    """Which device of which rank or file it is."""
    from course.report import printable

    rank = file["diagnosis"].rank
    of = _("rank {rank}", rank=rank) if rank is not None else printable(file["file"]) if several else ""
    gpu = (
        _("GPU {device} {name}", device=device["device"], name=printable(device["name"])).strip()
        if device is not None
        else _("no GPU")
    )
    return f"{of}, {gpu}" if of else gpu


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def diagnosis_of(plain: Mapping[str, Any]) -> Any:
    """The typed diagnosis of plain data."""
    import msgspec

    from lab.trace.verdict import Diagnosis

    return msgspec.convert(plain, Diagnosis)
