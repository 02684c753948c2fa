"""What the downloads of Moodle, Canvas, Gradescope and nbgrader say of each file: whose it is, and since when."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass

from grader.submissions.archives import ZIP
from lab.language import _

GRADESCOPE_LIST = "submission_metadata.yml"
NBGRADER_TIME = "timestamp.txt"
MAX_LIST_BYTES = 20_000_000
_MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?", re.DOTALL)
_CANVAS = re.compile(r"(?P<name>.+?)(?P<late>_LATE)?_(?P<user>\d{2,})_(?P<upload>\d{2,})_(?P<file>.+)", re.DOTALL)
_GRADESCOPE = re.compile(r"submission_\d+")
_EXCHANGE = re.compile(r"(?P<student>[^+]+)\+(?P<assignment>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d [\d:.]+ UTC)(?:\+.*)?")
_PARTICIPANT = re.compile(r"[^\W\d]+[ _]?\d+")  # Moodle's name for somebody whose name is kept secret


@dataclass(frozen=True)
class Who:
    """A student as a layout names them; what it doesn't say is empty."""

    id: str = ""
    name: str = ""
    email: str = ""
    lms_id: str = ""
    learning_system: str = ""


@dataclass(frozen=True)
class Place:
    """What a layout makes of a file's path."""

    who: tuple[Who, ...]
    """More than one where a group handed in together."""
    rest: tuple[str, ...]
    """The path within what they handed in, as it was called there."""
    handed_in_at_s: float | None = None
    marked_late: bool = False
    order: int = 0
    """Which of several came later, where there is no time."""
    dates_mean_nothing: bool = False
    """Whether the dates in the download are those of the download."""


class ListUnreadable(Exception):
    """The list of who handed in can't be read; the message says why."""


def place_of(parts: tuple[str, ...], lists: Mapping[tuple[str, ...], Mapping[str, Place]]) -> Place | None:
    """What the layout says of the file at this path below the wrappers, or None where it is in none of them.

    Only the outermost name is looked at: what is further in was named by a student, who could name another.
    """
    outermost, inner = parts[0], parts[1:]
    if (listed := lists.get(())) is not None and outermost in listed:
        return _within(listed[outermost], inner)
    if found := _MOODLE.fullmatch(_stem(outermost) if inner else outermost):
        return _moodle(found, inner)
    if found := _CANVAS.fullmatch(outermost):
        who = Who(found["user"], found["name"], lms_id=found["user"], learning_system="Canvas")
        late, upload = found["late"] is not None, int(found["upload"])
        return Place((who,), inner or (found["file"],), marked_late=late, order=upload, dates_mean_nothing=True)
    if inner and (found := _EXCHANGE.fullmatch(_stem(outermost))):
        return Place((Who(found["student"]),), inner, time_of(found["time"]))
    return None


def is_of_a_system(name: str) -> bool:
    """Whether a name was given by one of the systems to what one student handed in."""
    patterns = (_MOODLE, _CANVAS, _GRADESCOPE, _EXCHANGE)
    return any(pattern.fullmatch(_stem(name)) or pattern.fullmatch(name) for pattern in patterns)


def _moodle(found: re.Match[str], inner: tuple[str, ...]) -> Place | None:
    name, number = found["name"], found["number"]
    named = "" if _PARTICIPANT.fullmatch(name) else name
    rest = inner or ((found["file"],) if found["file"] else ())
    who = Who(number, named, lms_id=number, learning_system="Moodle")
    return Place((who,), rest) if rest else None


def _within(place: Place, inner: tuple[str, ...]) -> Place | None:
    return Place(place.who, inner, place.handed_in_at_s) if inner else None


def _stem(name: str) -> str:
    return name[: -len(ZIP)] if name.casefold().endswith(ZIP) else name


def read_gradescope_list(data: bytes) -> dict[str, Place]:
    """What Gradescope's `submission_metadata.yml` says of each folder beside it."""
    import yaml

    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where it was built
        listed = yaml.load(data.decode("utf-8-sig"), Loader=loader)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise ListUnreadable(
            _("it can't be read as YAML ({reason}). Export the submissions again.", reason=str(error)[:100])
        ) from error
    try:
        return _places(listed)
    except (ValueError, OverflowError) as error:  # a number or a date that is none
        raise ListUnreadable(
            _("it can't be read ({reason}). Export the submissions again.", reason=str(error)[:100])
        ) from error


def _places(listed: object) -> dict[str, Place]:
    if not isinstance(listed, dict):
        raise ListUnreadable(_("it isn't a list of submissions. Export the submissions again."))
    places = {}
    for folder, about in listed.items():
        if not isinstance(about, dict):
            continue
        submitters = about.get(":submitters")
        who = tuple(
            Who(
                text(each, ":sid") or text(each, ":email") or text(each, ":name"),
                text(each, ":name"),
                text(each, ":email"),
            )
            for each in (submitters if isinstance(submitters, list) else [])
            if isinstance(each, dict)
        )
        places[str(folder)] = Place(tuple(each for each in who if each.id), (), time_of(about.get(":created_at")))
    return places


def text(about: Mapping[object, object], key: str) -> str:
    value = about.get(key)
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def time_of(value: object) -> float | None:
    """Seconds since 1970 of a time as these systems write it; one without a time zone is UTC."""
    if isinstance(value, str):
        cleaned = re.sub(r"(?<=\.\d{6})\d+", "", value.strip()).replace(" UTC", "+00:00")
        cleaned = re.sub(r"(\.\d{1,5})(?!\d)", lambda found: found[1].ljust(7, "0"), cleaned)
        cleaned = re.sub(r" ?Z$", "+00:00", cleaned)
        cleaned = re.sub(r" ([+-]\d\d):?(\d\d)$", r"\1:\2", cleaned)
        try:
            value = datetime.datetime.fromisoformat(cleaned)
        except ValueError:
            return None
    if not isinstance(value, datetime.datetime):
        return None
    aware = value if value.tzinfo is not None else value.replace(tzinfo=datetime.timezone.utc)
    return aware.timestamp()
