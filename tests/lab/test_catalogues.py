"""The catalogues have every message of the code and no other, with the same placeholders, and are compiled."""

from __future__ import annotations

import argparse
import ast
import gettext
import io
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract, extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from lab.language import ENGLISH, FOLDER, LANGUAGES

ROOT = Path(__file__).parents[2]
OTHERS = [code for code in LANGUAGES if code != ENGLISH]
HOUSE = ("lab", "exercises", "grader", "course")
KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2)}
METHODS = [("checks/**.py", "grader.lint.titles:extract"), ("**.py", "python")]
"""As lab/languages/babel.cfg says."""
FOR_PROGRAMMERS = re.compile(
    r"is an invalid argument for positionals|__call__|conflict|cannot have|cannot merge|dest= is required|not callable"
    r"|must be optional|invalid option string|argument \"-\" with mode|deprecated$"
)
"""What argparse says of a parser that is built wrongly, or of deprecated arguments, of which there are none."""
PLACEHOLDER = re.compile(r"\{[^{}]*\}|%(?:\(\w+\))?[srd]")
DOMAINS = ("messages", "argparse")
"""Our own messages, and those of Python's argparse."""


@cache
def in_the_code() -> frozenset[str | tuple[str, ...]]:
    """The messages that are marked."""
    found = set()
    for floor in HOUSE:
        for _file, _line, message, _comments, _context in extract_from_dir(ROOT / floor, METHODS, keywords=KEYWORDS):
            found.add(message if isinstance(message, str) else tuple(message))
    return frozenset(found)


@cache
def catalogue(language: str, domain: str = "messages") -> Catalog:
    with (FOLDER / language / "LC_MESSAGES" / f"{domain}.po").open("rb") as file:
        return read_po(file, locale=language)


def messages(language: str, domain: str = "messages") -> Iterator[Message]:
    return (message for message in catalogue(language, domain) if message.id)


def complaints(message: Message) -> Iterator[str]:
    """What is wrong with the translation of one message."""
    ids = (message.id,) if isinstance(message.id, str) else tuple(message.id)
    said = (message.string,) if isinstance(message.string, str) else tuple(message.string)
    for each in said:
        if not each:
            yield f"{ids[0]!r} isn't translated"
        elif set(PLACEHOLDER.findall(each)) != set(PLACEHOLDER.findall(ids[-1])):
            yield f"{ids[0]!r} has other placeholders than {each!r}"
        elif (ids[0][:1] == " ") != (each[:1] == " ") or (ids[0][-1] == " ") != (each[-1] == " "):
            yield f"{ids[0]!r} begins or ends with other spaces than {each!r}"
    if message.fuzzy:
        yield f"{ids[0]!r} is fuzzy"


def french_typography(text: str) -> bool:
    """Whether no plain space stands where French has one that doesn't break."""
    return not re.search(r"\S [;!?](?:\s|$)|\w :(?:\s|$)|« | »", text)


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_of_the_code_is_in_the_catalogue_and_no_other(language: str) -> None:
    known = {message.id if isinstance(message.id, str) else tuple(message.id) for message in messages(language)}
    assert known == in_the_code(), "see docs/translating.md"


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_translated_with_its_placeholders(language: str, domain: str) -> None:
    assert [complaint for message in messages(language, domain) for complaint in complaints(message)] == []


@pytest.mark.parametrize("language", OTHERS)
def test_what_argparse_says_to_people_is_in_its_catalogue(language: str) -> None:
    known = {text for message in messages(language, "argparse") for text in _texts(message.id)}
    with Path(argparse.__file__).open("rb") as source:
        said = {text for _line, message, *_rest in extract("python", source, KEYWORDS) for text in _texts(message)}
    assert said
    assert {text for text in said if not FOR_PROGRAMMERS.search(text)} <= known, "see docs/translating.md"


def _texts(message: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (message,) if isinstance(message, str) else tuple(message)


def test_french_has_its_spaces() -> None:
    wrong = [
        text
        for domain in DOMAINS
        for message in messages("fr", domain)
        for text in ([message.string] if isinstance(message.string, str) else message.string)
        if not french_typography(text)
    ]
    assert wrong == []


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("language", OTHERS)
def test_what_is_compiled_is_what_is_written(language: str, domain: str) -> None:
    compiled = io.BytesIO()
    write_mo(compiled, catalogue(language, domain))
    compiled.seek(0)
    with (FOLDER / language / "LC_MESSAGES" / f"{domain}.mo").open("rb") as file:
        kept = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    assert kept == gettext.GNUTranslations(compiled)._catalog, f"pybabel compile -D {domain} -d lab/languages"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ("Saved as {path}", ""),
        ("Saved as {path}", "Salvato in {percorso}"),
        (" after {took:.1f} s", " dopo {took} s"),
        (" goes on.", "prosegue."),
        ("Saved", "Salvato "),
        (("{n} change", "{n} changes"), ("{n} modifica", "")),
    ],
)
def test_a_bad_translation_is_found(english: str | tuple[str, str], said: str | tuple[str, str]) -> None:
    assert list(complaints(Message(english, said)))


@pytest.mark.parametrize("text", ["Vraiment ?", "Fini ; rien", "Langue : {name}", "« oui »"])
def test_a_plain_space_in_french_is_found(text: str) -> None:
    assert not french_typography(text)


def test_no_message_hides_in_an_f_string() -> None:
    hidden = [
        f"{file.relative_to(ROOT)}:{string.lineno}"
        for floor in HOUSE
        for file in (ROOT / floor).rglob("*.py")
        for string in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(string, ast.JoinedStr)
        for call in ast.walk(string)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in KEYWORDS
        and call.args
        and isinstance(call.args[0], ast.Constant)
    ]
    assert hidden == []
