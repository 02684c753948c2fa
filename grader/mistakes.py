"""The known mistakes of misconceptions.toml, as messages for an assertion."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import msgspec

from grader.errors import CheckFault
from grader.toml import read_toml
from lab.language import current, filled

MISCONCEPTIONS = Path(__file__).with_name("misconceptions.toml")


class Misconception(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to tell a learner who made this mistake, and where it is explained."""

    says: str
    title: str | None = None  # in English the id says it
    card: str | None = None  # "<lesson>/<card>"
    source: str | None = None  # the row of the research that found it


class Mistake(str):
    """A learner-facing message that remembers which known mistake it explains."""

    __slots__ = ("id",)
    id: str

    def __new__(cls, mistake_id: str, message: str) -> Mistake:
        self = super().__new__(cls, message)
        self.id = mistake_id
        return self


def read_misconceptions(path: Path) -> dict[str, Misconception]:
    """All known mistakes by id."""
    try:
        return read_toml(path.read_text(encoding="utf-8"), dict[str, Misconception])
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise CheckFault(f"{path.name} can't be read: {error}") from error


@cache
def misconceptions() -> dict[str, Misconception]:
    return read_misconceptions(MISCONCEPTIONS)


@cache
def _said_in(language: str) -> dict[str, Misconception]:
    """What to tell a learner in another language, for those mistakes that it has words for."""
    return read_misconceptions(MISCONCEPTIONS.with_suffix(f".{language}.toml"))


def mistake(mistake_id: str, /, **values: object) -> Mistake:
    """The message of a known mistake, its blanks filled with what was observed."""
    known = misconceptions().get(mistake_id)
    if known is None:
        raise CheckFault(f"misconceptions.toml has no [{mistake_id}]. Add it, or correct the id in the check.")
    try:
        message = known.says.format_map(values)
        if (said := _said_in(current()).get(mistake_id)) is not None:
            message = filled(said.says, values)
    except KeyError as error:
        raise CheckFault(f"mistake({mistake_id!r}) needs a value for {error}.") from error
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise CheckFault(f"[{mistake_id}] in misconceptions.toml can't be filled in: {error}") from error
    return Mistake(mistake_id, message)


def card_of(mistake_id: str | None) -> str | None:
    """The card that explains a known mistake, `<lesson>/<card>`."""
    known = misconceptions().get(mistake_id) if mistake_id else None
    return known.card if known is not None else None


def in_words(mistake_id: str) -> str:
    """A known mistake's name within a sentence, e.g. `cpu time for gpu time`."""
    said = _said_in(current()).get(mistake_id)
    return said.title if said is not None and said.title else mistake_id.replace("_", " ")


def title(mistake_id: str) -> str:
    """A known mistake's name as a heading, e.g. `CPU time for GPU time`."""
    words = in_words(mistake_id)
    for name in ("cpu", "gpu"):
        words = re.sub(rf"\b{name}\b", name.upper(), words)
    return words[:1].upper() + words[1:]
