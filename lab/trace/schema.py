"""What is read of each event of a Chrome trace: with types where the file keeps to them, leniently elsewhere."""

from __future__ import annotations

import math
from typing import Any

import msgspec

NO_NUMBER = math.nan


class Arguments(msgspec.Struct, gc=False, frozen=True):
    """The arguments of an event that matter here. Everything else is skipped without being decoded."""

    correlation: int = 0
    device: int = -1
    stream: int | str = ""
    bytes: int | str = 0  # text on ROCm
    collective: str = msgspec.field(name="Collective name", default="")


NO_ARGUMENTS = Arguments()


class Event(msgspec.Struct, gc=False, frozen=True):
    """One event. Times are microseconds, as the file has them."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    ts: float = NO_NUMBER
    dur: float = NO_NUMBER
    pid: int | str = ""
    tid: int | str = ""
    args: Arguments = NO_ARGUMENTS


NOTHING = msgspec.Raw()


class Rest(msgspec.Struct, gc=False):
    """The end of a trace: its last events, and what else the object holds."""

    traceEvents: list[Event] = []  # noqa: N815 - the format's own name
    distributedInfo: msgspec.Raw = NOTHING  # noqa: N815
    deviceProperties: msgspec.Raw = NOTHING  # noqa: N815


class RawRest(msgspec.Struct, gc=False):
    """The same with events that are looked at one by one."""

    traceEvents: list[msgspec.Raw] = []  # noqa: N815
    distributedInfo: msgspec.Raw = NOTHING  # noqa: N815
    deviceProperties: msgspec.Raw = NOTHING  # noqa: N815


def lenient(found: object) -> Event | None:
    """An event from any JSON value; None where there is no sense in it."""
    if not isinstance(found, dict):
        return None
    args = found.get("args")
    if not isinstance(args, dict):
        args = {}
    stream = args.get("stream", "")
    return Event(
        ph=text(found.get("ph")),
        cat=text(found.get("cat")),
        name=text(found.get("name")),
        ts=number(found.get("ts")),
        dur=number(found.get("dur")),
        pid=place(found.get("pid")),
        tid=place(found.get("tid")),
        args=Arguments(
            correlation=whole(args.get("correlation"), 0),
            device=whole(args.get("device"), -1),
            stream=stream if isinstance(stream, (int, str)) and not isinstance(stream, bool) else text(stream),
            bytes=whole(args.get("bytes"), 0),
            collective=text(args.get("Collective name")),
        ),
    )


def text(value: Any) -> str:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # half of a surrogate pair can't be written anywhere
    return "" if value is None or isinstance(value, (dict, list)) else str(value)


def number(value: Any) -> float:
    """A number, also one that was written as text; NaN for everything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return NO_NUMBER
    try:
        return float(value)
    except (ValueError, OverflowError):
        return NO_NUMBER


def whole(value: Any, otherwise: int) -> int:
    found = number(value)
    return int(found) if math.isfinite(found) and abs(found) < 2**62 else otherwise


def place(value: Any) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**62:
        return value
    return text(value)
