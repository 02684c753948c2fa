"""The catalogues have every message of the code and no other, with the same placeholders, and are compiled."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import write_po

from tests.lab.catalogues import (
    ARGPARSE,
    HOUSE,
    KEYWORDS,
    MESSAGES,
    OTHERS,
    ROOT,
    complaints,
    file_of,
    french_typography,
    of_message,
    read,
    texts,
)

FOR_PROGRAMMERS = re.compile(
    r"is an invalid argument for positionals|__call__|conflict|cannot have|cannot merge|dest= is required|not callable"
    r"|must be optional|invalid option string|argument \"-\" with mode|deprecated$"
)
"""What argparse says of a parser that is built wrongly, or of deprecated arguments, of which there are none."""


def test_the_catalogues_have_no_complaints() -> None:
    assert list(complaints()) == []


@pytest.mark.parametrize("language", OTHERS)
def test_what_argparse_says_to_people_is_in_its_catalogue(language: str) -> None:
    known = {text for message in read(file_of(ROOT, language, ARGPARSE), language) for text in texts(message.id)}
    with Path(argparse.__file__).open("rb") as source:
        said = {text for _line, message, *_rest in extract("python", source, KEYWORDS) for text in texts(message)}
    assert said
    assert {text for text in said if not FOR_PROGRAMMERS.search(text)} <= known, "see docs/translating.md"


# Each rule, broken

CODE = '''"""What is said."""
def say(path, n):
    print(_("Saved as {path}", path=path), ngettext("{n} change", "{n} changes", n))
'''
SAID = {
    "it": {
        "Saved as {path}": "Salvato in {path}",
        ("{n} change", "{n} changes"): ("{n} modifica",) + ("{n} modifiche",) * 2,
    },
    "fr": {"Saved as {path}": "Enregistré dans {path}", ("{n} change", "{n} changes"): ("{n} changement",) * 3},
}


def written(
    root: Path, language: str, said: dict, domain: str = MESSAGES, *, compiled: bool = True, fuzzy: bool = False
) -> None:
    catalogue = Catalog(locale=language)
    for each, text in said.items():
        catalogue.add(each, text, flags=["fuzzy"] if fuzzy else [])
    file = file_of(root, language, domain)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as opened:
        write_po(opened, catalogue)
    if compiled:
        with file.with_suffix(".mo").open("wb") as opened:
            write_mo(opened, catalogue)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with two messages, in its languages."""
    for floor in HOUSE:
        (tmp_path / floor).mkdir()
    (tmp_path / "course" / "says.py").write_text(CODE)
    for language, said in SAID.items():
        written(tmp_path, language, said)
        written(
            tmp_path,
            language,
            {"usage: ": "uso: " if language == "it" else "utilisation\N{NO-BREAK SPACE}: "},
            ARGPARSE,
        )
    return tmp_path


def test_catalogues_that_are_whole_have_no_complaints(course: Path) -> None:
    assert list(complaints(course)) == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"Saved as {path}": ""}, "'Saved as {path}' isn't translated. Translate it, with all its plurals."),
        ({("{n} change", "{n} changes"): ("{n} modifica", "", "")}, "'{n} change' isn't translated."),
        (
            {"Saved as {path}": "Salvato in {percorso}"},
            "has other placeholders than 'Salvato in {percorso}'. Keep them",
        ),
        ({"Saved as {path}": "Salvato in {path} "}, "begins or ends with other spaces"),
        ({"Gone": "Sparito"}, "'Gone' isn't said by the code any more. Remove it."),
    ],
)
def test_a_bad_translation_is_named(change: dict, complaint: str, course: Path) -> None:
    written(course, "it", {**SAID["it"], **change})
    (told,) = {each.partition(". ")[0]: each for each in complaints(course)}.values()
    assert told.startswith("lab/languages/it/LC_MESSAGES/messages.po: ")
    assert complaint in told


def test_a_message_that_is_not_in_a_catalogue_is_named(course: Path) -> None:
    (course / "course" / "says.py").write_text(CODE + '    print(_("New"))\n')
    told = list(complaints(course))
    assert len(told) == len(OTHERS)
    assert all("'New' isn't in it. See docs/translating.md: pybabel extract" in each for each in told)


@pytest.mark.parametrize("domain", [MESSAGES, ARGPARSE])
def test_a_catalogue_that_was_not_compiled_is_named(domain: str, course: Path) -> None:
    said = SAID["it"] | {"Saved as {path}": "Salvato come {path}"} if domain == MESSAGES else {"usage: ": "utilizzo: "}
    written(course, "it", said, domain, compiled=False)
    (told,) = complaints(course)
    assert told.endswith(f"its .mo says something else. Compile it: pybabel compile -D {domain} -d lab/languages.")
    file_of(course, "it", domain).with_suffix(".mo").unlink()
    assert list(complaints(course)) == [told]


def test_a_missing_catalogue_and_a_fuzzy_message_are_named(course: Path) -> None:
    file_of(course, "it").unlink()
    written(course, "fr", SAID["fr"], fuzzy=True)
    told = list(complaints(course))
    assert "lab/languages/it/LC_MESSAGES/messages.po: is missing. See docs/translating.md." in told
    assert any("is fuzzy. Read the translation again" in each for each in told)


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("print(f\"{_('Saved')}.\")\n", "a message in an f-string isn't found. Say it before"),
        ('print(_(f"Saved as {path}"))\n', "an f-string is no message. Write {names} into it"),
        ('SAVED = _("Saved")\n', "the language isn't known yet when this is said. Mark it with N_"),
        ('def say(what: str = _("Saved")) -> None: ...\n', "the language isn't known yet when this is said."),
    ],
)
def test_a_message_that_is_not_found_or_said_too_early_is_named(
    code: str, complaint: str, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (course / "course" / "other.py").write_text(code)
    assert any(each.startswith("course/other.py:1: ") and complaint in each for each in complaints(course))


@pytest.mark.parametrize("text", ["Vraiment ?", "Fini ; rien", "Langue : {name}", "« oui »"])
def test_a_plain_space_in_french_is_found(text: str) -> None:
    assert not french_typography(text)
    assert any("isn't set as French is" in each for each in of_message(Message("Saved {name}", text), "fr"))
