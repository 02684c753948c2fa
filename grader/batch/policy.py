"""What a class's attempts are worth: which one counts, when it was due, and what coming late costs."""

from __future__ import annotations

import argparse
import datetime
import math
import re
import zoneinfo
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Literal

import msgspec

from grader.batch.given import add_option
from grader.batch.records import Attempt
from grader.errors import GraderError
from grader.toml import read_toml
from lab.language import _

DAY_S = 24 * 3600
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?(?: ?%)?")
Count = Literal["best", "latest"]
Days = Literal["begun", "exact"]


class PolicyUnreadable(GraderError):
    """The policy isn't one that can be applied; the message says which part, and how to write it."""


@dataclass(frozen=True)
class Policy:
    """How attempts become points. Without a due date nothing is late."""

    count: Count = "best"
    """Whether the best attempt counts, after what lateness costs it, or the latest."""
    due: datetime.datetime | None = None
    late_per_day: Fraction = Fraction(0)
    """The share of its points that an attempt loses for each day that it is late."""
    days: Days = "begun"
    """Whether a day that has begun counts as a whole one."""
    grace_s: Fraction = Fraction(0)
    """An attempt that is late by no more than that isn't late; one that is counts from the due date."""
    late_at_most: Fraction = Fraction(1)
    """The largest share that is lost."""
    closed_after_days: Fraction | None = None
    """What comes later than that is worth nothing."""
    minimum: Fraction = Fraction(0)
    """The share of an exercise's points below which lateness takes none of what was earned."""
    round_to: Fraction = Fraction(1, 100)
    """Points are rounded to multiples of that, halves upwards."""
    due_of: Mapping[str, datetime.datetime] = field(default_factory=dict)
    """The due dates of exercises that have their own."""
    extensions: Mapping[str, Fraction | datetime.datetime] = field(default_factory=dict)
    """For students, by id: more days, or a date in place of the due date."""

    def late_s(self, attempt: Attempt) -> Fraction:
        """By how many seconds an attempt is late; not at all where nothing says when it was handed in."""
        due = self.due_of.get(attempt.exercise, self.due)
        extension = self.extensions.get(attempt.student)
        if due is None:
            return Fraction(0)
        if attempt.handed_in_at_s is None:
            # All that is known is that the first day has begun.
            return Fraction(1) if attempt.marked_late and extension is None else Fraction(0)
        if isinstance(extension, datetime.datetime):
            due = max(due, extension)
        at_s = _exact(due.timestamp()) + (extension * DAY_S if isinstance(extension, Fraction) else 0)
        late_s = _exact(attempt.handed_in_at_s) - at_s
        return late_s if late_s > self.grace_s else Fraction(0)

    def late_days(self, attempt: Attempt) -> Fraction:
        days = self.late_s(attempt) / DAY_S
        return Fraction(math.ceil(days)) if self.days == "begun" else days

    def worth(self, attempt: Attempt, earned: int, max_points: int) -> Fraction:
        """What is left of the points that an attempt earned."""
        points = Fraction(min(max(earned, 0), max_points))
        late_s, days = self.late_s(attempt), self.late_days(attempt)
        if self.closed_after_days is not None and late_s > self.closed_after_days * DAY_S:
            return Fraction(0)
        left = points * (1 - min(self.late_per_day * days, self.late_at_most))
        return self.rounded(max(left, min(points, self.minimum * max_points)), max_points)

    def rounded(self, points: Fraction, max_points: int) -> Fraction:
        rounded = math.floor(points / self.round_to + Fraction(1, 2)) * self.round_to
        return min(rounded, Fraction(max_points))


def _exact(seconds: float) -> Fraction:
    return Fraction(seconds).limit_denominator(1_000_000)


def insist_on_known(policy: Policy, students: Iterable[str], exercises: Collection[str]) -> None:
    """A name that is misspelt would otherwise change nothing, and nobody would know. Raises PolicyUnreadable."""
    if unknown := sorted(set(policy.extensions) - set(students)):
        raise PolicyUnreadable(
            _("The policy has an extension for {student!r}, and no student has this id.", student=unknown[0])
        )
    if unknown := sorted(set(policy.due_of) - set(exercises)):
        raise PolicyUnreadable(
            _("The policy has a due date for {exercise!r}, which isn't in this gradebook.", exercise=unknown[0])
        )


class _Exercise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    due: object


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A policy as it stands in a file."""

    count: Count = "best"
    due: object = None
    time_zone: str | None = None
    late_per_day: object = 0
    days: Days = "begun"
    grace_minutes: object = 0
    late_at_most: object = 1
    closed_after_days: object = None
    minimum: object = 0
    round_to: object = "0.01"
    extensions: dict[str, object] = {}
    exercises: dict[str, _Exercise] = {}


def read_policy(path: Path) -> Policy:
    """The policy in this TOML file. Raises PolicyUnreadable."""
    try:
        return policy_of(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise PolicyUnreadable(_("{path} can't be read: {reason}.", path=path, reason=error.strerror)) from error
    except UnicodeDecodeError as error:
        raise PolicyUnreadable(_("{path} isn't UTF-8 text. Save it with the encoding UTF-8.", path=path)) from error
    except PolicyUnreadable as error:
        raise PolicyUnreadable(f"{path}: {error}") from error


def policy_of(text: str) -> Policy:
    """The policy that a TOML text says."""
    try:
        written = read_toml(text, _Written)
    except ValueError as error:
        raise PolicyUnreadable(_("it can't be read as a policy: {reason}.", reason=error)) from error
    zone = _zone(written.time_zone)
    closed = written.closed_after_days
    round_to = _number("round_to", written.round_to, least=Fraction(1, 10_000))
    return Policy(
        count=written.count,
        due=None if written.due is None else _moment("due", written.due, zone),
        late_per_day=_number("late_per_day", written.late_per_day, most=Fraction(1)),
        days=written.days,
        grace_s=_number("grace_minutes", written.grace_minutes) * 60,
        late_at_most=_number("late_at_most", written.late_at_most, most=Fraction(1)),
        closed_after_days=None if closed is None else _number("closed_after_days", closed),
        minimum=_number("minimum", written.minimum, most=Fraction(1)),
        round_to=round_to,
        due_of={name: _moment(f"exercises.{name}.due", each.due, zone) for name, each in written.exercises.items()},
        extensions={name: _extension(name, each, zone) for name, each in written.extensions.items()},
    )


def _extension(student: str, value: object, zone: datetime.tzinfo | None) -> Fraction | datetime.datetime:
    name = f"extensions.{student}"
    return _number(name, value) if _is_number(value) else _moment(name, value, zone)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(name: str, value: object, *, least: Fraction = Fraction(0), most: Fraction | None = None) -> Fraction:
    """A number as it is written: 0.1 is a tenth, and "10 %" too."""
    text = str(value).strip()
    try:
        if isinstance(value, bool) or not _NUMBER.fullmatch(text):
            raise ValueError
        number = Fraction(text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise PolicyUnreadable(
            _("{name} = {value!r} is no number. Write for example {name} = 0.1.", name=name, value=value)
        ) from None
    if number < least or (most is not None and number > most) or number > 1_000_000:
        upper = _(" to {most:g}", most=float(most)) if most is not None else _(" on")
        raise PolicyUnreadable(
            _(
                "{name} = {value!r} is out of range: it may be from {least:g}{upper}.",
                name=name,
                value=value,
                least=float(least),
                upper=upper,
            )
        )
    return number


def _zone(name: str | None) -> datetime.tzinfo | None:
    if name is None:
        return None
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise PolicyUnreadable(
            _("time_zone = {name!r} is none that is known. Write it as in Europe/Rome.", name=name)
        ) from None


def _moment(name: str, value: object, zone: datetime.tzinfo | None) -> datetime.datetime:
    """A date and time; a date alone lasts to its end."""
    if isinstance(value, str):
        text = value.strip().removesuffix("Z") + ("+00:00" if value.strip().endswith("Z") else "")
        try:
            value = datetime.date.fromisoformat(text) if len(text) == 10 else datetime.datetime.fromisoformat(text)
        except ValueError:
            raise PolicyUnreadable(
                _("{name} = {value!r} is no date. Write it as in 2026-03-01T23:59:00+01:00.", name=name, value=value)
            ) from None
    written = value
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        if value == datetime.date.max:  # "never", after which there is no day
            value = datetime.datetime.combine(value, datetime.time.max)
        else:
            value = datetime.datetime.combine(value + datetime.timedelta(days=1), datetime.time())
    if not isinstance(value, datetime.datetime):
        raise PolicyUnreadable(
            _("{name} = {value!r} is no date. Write it as in 2026-03-01T23:59:00+01:00.", name=name, value=value)
        )
    if value.tzinfo is None:
        if zone is None:
            raise PolicyUnreadable(
                _(
                    "{name} = {time} doesn't say in which time zone: write it with its offset from UTC, as in "
                    "2026-03-01T23:59:00+01:00, or add a time_zone.",
                    name=name,
                    time=written.isoformat() if isinstance(written, datetime.date) else written,
                )
            )
        value = value.replace(tzinfo=zone)
    return value


def add_options(parser: argparse.ArgumentParser) -> None:
    """The flags that say a policy on the command line; each goes before what a file says."""
    group = parser.add_argument_group(_("points"))
    add_option(
        group,
        "policy",
        _("FILE.toml"),
        _("how attempts become points; kept in RESULTS for later runs"),
        _("go by none any more"),
    )
    group.add_argument("--count", choices=["best", "latest"], help=_("which attempt counts (best)"))
    group.add_argument("--due", metavar=_("TIME"), help=_("when it was due, e.g. 2026-03-01T23:59:00+01:00"))
    group.add_argument("--time-zone", metavar=_("ZONE"), help=_("of a time without an offset, e.g. Europe/Rome"))
    group.add_argument(
        "--late-per-day",
        metavar=_("SHARE"),
        help=_("of the points lost for each day begun, e.g. {share}", share="10%%"),
    )
    group.add_argument("--grace-minutes", metavar="N", help=_("late by no more than that isn't late"))
    group.add_argument(
        "--late-at-most", metavar=_("SHARE"), help=_("the largest share that is lost, e.g. {share}", share="50%%")
    )
    group.add_argument("--minimum", metavar=_("SHARE"), help=_("of an exercise's points, which lateness leaves"))


def policy_from(options: argparse.Namespace, file: Path | None = None) -> Policy:
    """The policy that these options say, on top of what a file does."""
    file = file or options.policy
    policy = read_policy(file) if file is not None else Policy()
    zone = _zone(options.time_zone)
    if options.count is not None:
        policy = replace(policy, count=options.count)
    if options.due is not None:
        policy = replace(policy, due=_moment("--due", options.due, zone))
    if options.late_per_day is not None:
        policy = replace(policy, late_per_day=_number("--late-per-day", options.late_per_day, most=Fraction(1)))
    if options.grace_minutes is not None:
        policy = replace(policy, grace_s=_number("--grace-minutes", options.grace_minutes) * 60)
    if options.late_at_most is not None:
        policy = replace(policy, late_at_most=_number("--late-at-most", options.late_at_most, most=Fraction(1)))
    if options.minimum is not None:
        policy = replace(policy, minimum=_number("--minimum", options.minimum, most=Fraction(1)))
    return policy
