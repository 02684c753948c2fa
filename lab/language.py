"""Which language the reader is spoken to in: messages, plurals and numbers in English, Italian and French.

The messages stand in the code in English. Babel collects them into lab/languages (see docs/translating.md); a message
that a language lacks stays English.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import gettext

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "it": "Italiano", "fr": "Français"}
"""Each language by its code, as its own speakers call it."""
VARIABLE = "PROFILE_FIRST_LANG"
OPTION = "--lang"
FOLDER = Path(__file__).resolve().parent / "languages"
DOMAIN = "messages"

_spoken = ENGLISH


def current() -> str:
    """The code of the language that is spoken now."""
    return _spoken


def use(language: str) -> None:
    """Speak this language from now on, in all of the process."""
    global _spoken
    _spoken = language if language in LANGUAGES else ENGLISH


@contextmanager
def speaking(language: str | None) -> Iterator[None]:
    """Speak a language for a while; None leaves it as it is."""
    before = _spoken
    use(language or before)
    try:
        yield
    finally:
        use(before)


def known(name: str) -> str | None:
    """The code of a language that is named as locales and people name it: `it`, `it_IT.UTF-8`, `Italiano`."""
    code = name.replace("-", "_").partition(".")[0].partition("_")[0].lower()
    return next((each for each, said in LANGUAGES.items() if code in (each, said.lower())), None)


def of_environment(environment: Mapping[str, str] = os.environ, kept: str | None = None) -> str:
    """The language to begin in: PROFILE_FIRST_LANG, else the one that was chosen before, else that of the system."""
    for name in (environment.get(VARIABLE), kept):
        if name and (chosen := known(name)):
            return chosen
    system = next((value for each in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(each))), "")
    return known(system) or ENGLISH


def passed_on() -> dict[str, str]:
    """The environment for a program of ours that is started from here and speaks as this one does."""
    return {**os.environ, VARIABLE: _spoken}


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
            chosen = known(value) if value else None
            if chosen is None:
                raise ValueError(value)
        else:
            rest.append(argument)
        if len(rest) == 2 and rest[0] == "run":
            break
    return chosen, [*rest, *left]


def N_(text: str) -> str:  # noqa: N802 - the name that collectors of messages know
    """Mark a message that is made before the language is known; `_` says it later."""
    return text


def _(text: str, /, **values: Any) -> str:
    """A message in the language that is spoken, with its values in place of `{names}`."""
    messages = _messages(_spoken)
    # The empty message is how a catalogue keeps its header.
    return filled(messages.gettext(text) if messages and text else text, values)


def ngettext(one: str, many: str, n: int, /, **values: Any) -> str:
    """The message for a number of things, which is `{n}` in it."""
    messages = _messages(_spoken)
    said = messages.ngettext(one, many, n) if messages else one if n == 1 else many
    return filled(said, {"n": n, **values})


def number(value: float, spec: str = "") -> str:
    """A number as the language writes it: `0.5` is `0,5` in Italian and French, `12%` is `12 %` in French."""
    return localised(format(value, spec))


def localised(text: str) -> str:
    """The figures of a text as the language writes them."""
    if _spoken == ENGLISH:
        return text
    text = text.replace(",", "\N{NARROW NO-BREAK SPACE}").replace(".", ",")
    return text.replace("%", "\N{NO-BREAK SPACE}%") if _spoken == "fr" else text


class _Filler(Formatter):
    """Fills in values, numbers with a format in the language's way."""

    def format_field(self, value: Any, format_spec: str) -> str:
        filled: str = super().format_field(value, format_spec)
        return localised(filled) if isinstance(value, float) else filled


_FILLER = _Filler()


def filled(text: str, values: Mapping[str, Any]) -> str:
    """A text with its values in place of `{names}`, numbers in the language's way."""
    if not values:
        return text
    return text.format_map(values) if _spoken == ENGLISH else _FILLER.vformat(text, (), values)


@lru_cache(maxsize=len(LANGUAGES))
def _messages(language: str) -> gettext.NullTranslations | None:
    """The catalogue of a language; English has none, and speaks as the code does."""
    file = FOLDER / language / "LC_MESSAGES" / f"{DOMAIN}.mo"
    if language == ENGLISH or not file.is_file():
        return None
    import gettext

    with file.open("rb") as compiled:
        return gettext.GNUTranslations(compiled)
