"""Mends the text of damaged traces, as far as the damage is one that is known from real files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lab.language import N_, _
from lab.trace.schema import Event, lenient, whole

# Where an event begins: `{` and one of the keys that events have. Inside a string each quote would have a backslash.
BEGIN = re.compile(r'\{\s*"(?:ph|name|cat|ts|pid|tid|args|dur|id|bp|s)"\s*:')
ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
NO_VALUE = re.compile(r":(\s*)(?=[,}])")
NOT_A_VALUE = re.compile(
    r"(?<=[:\[,])(\s*)(?:N/A|[-+]?(?:nan(?:\(\w*\))?|inf(?:inity)?|1\.#\w+)|None|undefined)(?=\s*[,}\]])", re.IGNORECASE
)
COMMAS = re.compile(r",(?:\s*,)+")
LAST_COMMA = re.compile(r",(\s*[}\]])")
FIELD = {
    name: re.compile(rf'"{name}"\s*:\s*("?)(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\1\s*[,}}]')
    for name in ("ts", "dur", "pid", "tid", "correlation", "device", "stream", "bytes")
}
PHASE = re.compile(r'"ph"\s*:\s*"(\w)"')
CATEGORY = re.compile(r'"cat"\s*:\s*"(\w+)"')
NAME = re.compile(r'"name"\s*:\s*"(.*?)"\s*(?:,\s*"(?:ph|cat|pid|tid|ts|dur|args|id|s|bp)"\s*:|\})', re.DOTALL)

COMMAS_TOO_MANY = N_("superfluous commas")
CONTROL_CHARACTERS = N_("control characters")
LONGEST_WORD = 20  # a number or a word that is cut off


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


PARSER = json.JSONDecoder(parse_constant=_no_constant)


@dataclass
class Damage:
    """What was found wrong with a file while it was read."""

    mended: set[str] = field(default_factory=set)  # kinds of damage whose events were read nevertheless
    lost_events: int = 0
    cut_short: bool = False
    trailing: bool = False  # something follows the end of the trace
    headless: bool = False  # the file doesn't begin where a trace begins


def mend(text: str, damage: Damage) -> str:
    """The text with each known kind of damage repaired. Control characters are replaced without being told."""
    for what, pattern, replacement in (
        (CONTROL_CHARACTERS, CONTROL, " "),
        (N_("missing values"), NO_VALUE, r":\1null"),
        (N_("values that are no numbers (NaN, N/A, inf)"), NOT_A_VALUE, r"\1null"),
        (COMMAS_TOO_MANY, COMMAS, ","),
        (COMMAS_TOO_MANY, LAST_COMMA, r"\1"),
    ):
        mended = pattern.sub(replacement, text)
        if mended != text and pattern is not CONTROL:  # between strings a line's end is no damage
            damage.mended.add(what)
        text = mended
    mended = ESCAPE.sub(lambda found: found[0] if found[1] else r"\\", text)
    if mended != text:
        damage.mended.add(N_("backslashes that escape nothing"))
    return mended


def salvaged(text: str, final: bool, damage: Damage) -> tuple[list[Event], int, bool]:
    """What can be read of the text of a list of events, one by one, going on at the next event after each damage.

    Returns the events, up to where the text was used, and whether the list ended there. What is left unused, unless
    the text is final, may be the begin of an event whose end comes later.
    """
    events: list[Event] = []
    at = 0
    while True:
        at = _skip(text, at, damage)
        if at >= len(text):
            return events, at, False
        if text[at] == "]" and not _goes_on(text, at):
            return events, at + 1, True
        try:
            found, end = PARSER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            if not final and _ends_too_early(error, text):
                return events, at, False
            following = BEGIN.search(text, at + 1)
            if following is None and not final:
                return events, at, False
            end = following.start() if following else len(text)
            event = _from_piece(text[at:end], following is None, damage)
            if following is None and event is None:
                damage.cut_short = True
        else:
            event = lenient(found)
        if event is not None:
            events.append(event)
        else:
            damage.lost_events += 1
        at = end


def _skip(text: str, at: int, damage: Damage) -> int:
    """The next place that is neither space nor comma."""
    begin = at
    while at < len(text) and text[at] in " \t\r\n,\0":
        at += 1
    if text.count(",", begin, at) > 1 or ("," in text[begin:at] and text[at : at + 1] == "]"):
        damage.mended.add(COMMAS_TOO_MANY)
    return at


def _ends_too_early(error: ValueError | RecursionError, text: str) -> bool:
    """Whether the text is sound as far as it goes: it only ends in the middle of an event."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or error.pos >= len(text) - LONGEST_WORD


def _goes_on(text: str, at: int) -> bool:
    """Whether events follow a bracket that seemed to close the list."""
    return BEGIN.match(text, _skip(text, at + 1, Damage())) is not None


def _from_piece(piece: str, last: bool, damage: Damage) -> Event | None:
    """An event from damaged text that holds one."""
    piece = piece.rstrip(" \t\r\n,")
    trial = Damage()
    mended = mend(piece, trial)
    try:
        found, _end = PARSER.raw_decode(mended)
    except (ValueError, RecursionError):
        # What is cut off in the middle of the last event may have lost the end of a number.
        event = None if last and not piece.endswith(("}", "]")) else _from_fields(mended + "}")
        if event is not None:
            damage.mended.add(N_("events whose text is broken, for example by a quote inside a name"))
        return event
    damage.mended |= trial.mended or {CONTROL_CHARACTERS}
    return lenient(found)


def _from_fields(piece: str) -> Event | None:
    """An event of which only the fields are looked for, whatever lies between them."""
    numbers = {name: pattern.search(piece) for name, pattern in FIELD.items()}
    phase, category, name = PHASE.search(piece), CATEGORY.search(piece), NAME.search(piece)
    if not (phase and name and numbers["ts"]):
        return None
    values = {key: float(found[2]) for key, found in numbers.items() if found}
    found: dict[str, object] = {
        "ph": phase[1],
        "cat": category[1] if category else "",
        "name": name[1],
        "args": {key: values[key] for key in ("correlation", "device", "stream", "bytes") if key in values},
        **{key: values[key] for key in ("ts", "dur") if key in values},
        **{key: whole(values[key], 0) for key in ("pid", "tid") if key in values},
    }
    return lenient(found)


def words(damage: Damage, read_events: int) -> Iterator[str]:
    """The warnings that a damage deserves."""
    if damage.headless:
        yield _("The file doesn't begin like a trace: what was before its first event is lost.")
    if damage.cut_short:
        yield _("The file is cut short: what came after the last whole event is lost.")
    if damage.mended:
        yield _("The file is damaged and was repaired: {damages}.", damages=", ".join(sorted(map(_, damage.mended))))
    if damage.lost_events:
        total = read_events + damage.lost_events
        yield _(
            "{lost_events} of about {total} events couldn't be read and are left out.",
            lost_events=damage.lost_events,
            total=total,
        )
    if damage.trailing:
        yield _("Something follows the end of the trace; it was ignored.")
