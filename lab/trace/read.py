"""Reads a PyTorch trace in pieces: with types where it can, repaired or salvaged event by event where it must."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from lab.language import N_, _
from lab.trace.errors import TraceUnreadable
from lab.trace.events import Columns, Trace
from lab.trace.repair import CONTROL_CHARACTERS, PARSER, Damage, mend, salvaged, words
from lab.trace.schema import Event, RawRest, Rest, lenient, whole
from lab.trace.source import Progress, Source

BATCH_BYTES = 4 * 2**20
SAMPLE_BYTES = 2**18
LARGEST_HEAD_BYTES = 2**28
LARGEST_EVENT_BYTES = 2**26
KEPT_BYTES = 2**16  # of what seems to be an endless event

LIST_AT_ONCE = re.compile(rb"\s*\[")
LIST = re.compile(rb'"traceEvents"\s*:\s*\[')
BETWEEN = re.compile(rb'\}\s*,\s*\{\s*"\w+"\s*:')
ANY_EVENT = re.compile(rb'\{\s*"(?:ph|name|cat|ts|pid|tid|args|dur)"\s*:')

EVENTS = msgspec.json.Decoder(list[Event])
EVENT = msgspec.json.Decoder(Event)
REST = msgspec.json.Decoder(Rest)
RAW_REST = msgspec.json.Decoder(RawRest)


def read(path: str | Path, progress: Progress | None = None) -> Trace:
    """The timed events of a trace. Raises TraceUnreadable where there are none to be had."""
    path = Path(path)
    source = Source(path, progress)
    damage, columns, beside = Damage(), Columns(), Beside()
    for events in _batches(source, damage, beside):
        columns.add(events)
    if columns.read_events == 0 and damage.lost_events:
        raise TraceUnreadable(_("{path}: none of its events can be read. Record it again.", path=path))
    trace = columns.finish()
    return replace(
        trace,
        rank=beside.rank,
        world_size=beside.world_size,
        device_names=beside.device_names,
        cut_short=damage.cut_short or source.cut_short,
        warnings=(*source.warnings, *words(damage, columns.read_events), *columns.warnings()),
    )


class Beside:
    """What a trace says beside its events; it may come before or after them."""

    def __init__(self) -> None:
        self.rank: int | None = None
        self.world_size: int | None = None
        self.device_names: dict[int, str] = {}

    def take(self, found: Any) -> None:
        if not isinstance(found, dict):
            return
        distributed = found.get("distributedInfo")
        if isinstance(distributed, dict):
            self.rank = _optional(distributed.get("rank"))
            self.world_size = _optional(distributed.get("world_size"))
        devices = found.get("deviceProperties")
        for device in devices if isinstance(devices, list) else []:
            if isinstance(device, dict) and isinstance(device.get("name"), str):
                self.device_names[whole(device.get("id"), 0)] = device["name"]


def _optional(value: Any) -> int | None:
    number = whole(value, -1)
    return None if number < 0 else number


def _batches(source: Source, damage: Damage, beside: Beside) -> Iterator[list[Event]]:
    pieces = source.pieces()
    buffer, is_object = _begin(source.path, pieces, damage, beside)
    separator = _separator(buffer)
    for piece in pieces:
        buffer += piece
        if len(buffer) < BATCH_BYTES:
            continue
        if not separator:
            separator = _separator(buffer)
        cut = buffer.rfind(separator) if separator else -1
        if cut > 0:
            events = _decoded(b"[" + buffer[: cut + 1] + b"]", damage)
            if events is not None:
                yield events
                buffer = buffer[buffer.index(b"{", cut + 1) :]
                continue
        elif len(buffer) < LARGEST_EVENT_BYTES:
            continue
        text = buffer.decode("utf-8", "surrogateescape")
        events, used, ended = salvaged(_readable(text, damage), False, damage)
        yield events
        rest = text[used:].encode("utf-8", "surrogateescape")
        if ended:
            _after_the_end(rest + b"".join(pieces), is_object, damage, beside)
            return
        if len(rest) > LARGEST_EVENT_BYTES:
            damage.lost_events += 1
            rest = rest[-KEPT_BYTES:]
        buffer = rest
    yield from _last(buffer, is_object, damage, beside)


def _readable(text: str, damage: Damage) -> str:
    """The text without bytes that are no text. It stays as long as it was."""
    if not text.isascii() and any("\udc80" <= sign <= "\udcff" for sign in set(text)):
        damage.mended.add(N_("bytes that are no text"))
        return re.sub("[\udc80-\udcff]", "\ufffd", text)
    return text


def _begin(path: Path, pieces: Iterator[bytes], damage: Damage, beside: Beside) -> tuple[bytes, bool]:
    """Read up to the first event. Returns what follows, and whether the events are in an object."""
    head = bytearray()
    for piece in pieces:
        head += piece
        if found := LIST_AT_ONCE.match(head):
            return bytes(head[found.end() :]), False
        if found := LIST.search(head, max(0, len(head) - len(piece) - 64)):
            beside.take(_object(bytes(head[: found.start()]), damage))
            return bytes(head[found.end() :]), True
        if len(head) > LARGEST_HEAD_BYTES:
            break
    found = ANY_EVENT.search(head)
    if found and re.search(rb'"ph"\s*:\s*"X"', head) and re.search(rb'"ts"\s*:', head):
        # The begin of the file is lost, or its events stand there without a list around them.
        damage.headless = True
        return bytes(head[found.start() :]), False
    raise TraceUnreadable(_no_trace(path, bytes(head)))


def _no_trace(path: Path, head: bytes) -> str:
    expected = _("A PyTorch trace comes from export_chrome_trace() or tensorboard_trace_handler().")
    text = head.strip(b" \t\r\n\0")
    if not text:
        return _("{path} is empty. {expected}", path=path, expected=expected)
    if text[:1] == b"<":
        return _(
            "{path} is a web page, no trace: perhaps the download asked for a login. {expected}",
            path=path,
            expected=expected,
        )
    if len(head) <= LARGEST_HEAD_BYTES:
        try:
            found = json.loads(head)
        except (ValueError, RecursionError):
            pass
        else:
            if isinstance(found, dict) and "traceEvents" in found:
                return _("{path} has no events: its traceEvents are no list. Record it again.", path=path)
            return _("{path} is JSON, but not a trace: it has no traceEvents. {expected}", path=path, expected=expected)
    if text[:1] == b"{":
        return _("{path} ends, or is damaged, before its first event. Record it again.", path=path)
    return _("{path} is no JSON. {expected}", path=path, expected=expected)


def _object(head: bytes, damage: Damage) -> Any:
    """What stands before the events."""
    text = head.decode("utf-8", "replace").rstrip().removesuffix(",")
    for attempt in (text, mend(text, damage) if text else ""):
        try:
            return json.loads(attempt + "}", strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _separator(buffer: bytes) -> bytes:
    """What stands between two events of this file, up to the key with which most of them begin."""
    found = Counter(BETWEEN.findall(buffer, 0, SAMPLE_BYTES))
    return found.most_common(1)[0][0] if found else b""


def _decoded(batch: bytes, damage: Damage) -> list[Event] | None:
    """The events of a whole list, or None where it is no JSON even after repair."""
    try:
        return EVENTS.decode(batch)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        rest = _rest(b'{"traceEvents":' + batch + b"}", damage)
        return None if rest is None else rest.traceEvents


def _rest(text: bytes, damage: Damage) -> Rest | None:
    """Events, and what stands beside them, of an object that is whole, or is so after repair."""
    try:
        return REST.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    trial = Damage()
    raw = _raw_rest(text)
    if raw is None:
        mended = mend(_readable(text.decode("utf-8", "surrogateescape"), trial), trial)
        raw = _raw_rest(mended.encode("utf-8", "replace"))
        if raw is None:
            return None  # what is wrong shows event by event, and only what is repaired there counts as repaired
        damage.mended |= trial.mended or {CONTROL_CHARACTERS}
    events = []
    for each in raw.traceEvents:
        event = _event(each)
        if event is None:
            damage.lost_events += 1
        else:
            events.append(event)
    return Rest(events, raw.distributedInfo, raw.deviceProperties)


def _raw_rest(text: bytes) -> RawRest | None:
    try:
        text.decode()  # what isn't looked at isn't checked for bytes that are no text
        return RAW_REST.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _event(raw: msgspec.Raw) -> Event | None:
    """An event whose types may be others than they should be."""
    try:
        return EVENT.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return lenient(json.loads(bytes(raw)))  # which also takes numbers that are too large for others
    except (ValueError, RecursionError):
        return None


def _last(buffer: bytes, is_object: bool, damage: Damage, beside: Beside) -> Iterator[list[Event]]:
    """The last events, and what else the file says after them."""
    if not damage.headless:
        rest = _rest(b'{"traceEvents":[' + buffer + (b"" if is_object else b"}"), damage)
        if rest is not None:
            for key in ("distributedInfo", "deviceProperties"):
                if raw := getattr(rest, key):
                    beside.take({key: msgspec.json.decode(raw)})
            yield rest.traceEvents
            return
    text = _readable(buffer.decode("utf-8", "surrogateescape"), damage)
    events, used, ended = salvaged(text, True, damage)
    yield events
    if ended:
        _after_the_end(text[used:].encode("utf-8", "replace"), is_object, damage, beside)
    elif not damage.headless:
        damage.cut_short = True


def _after_the_end(rest: bytes, is_object: bool, damage: Damage, beside: Beside) -> None:
    """What stands after the list of events."""
    text = mend(rest.decode("utf-8", "replace"), Damage()).lstrip(" ,")
    if is_object:
        try:
            found, end = PARSER.raw_decode("{" + text)
        except (ValueError, RecursionError):
            damage.cut_short |= text[:1] in ("", '"')
            damage.trailing |= text[:1] not in ("", '"')
            return
        beside.take(found)
        text = text[end - 1 :]
    damage.trailing |= bool(text.strip())
