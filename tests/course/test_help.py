"""The command line is in the reader's language: what `--help` says, and what is wrong with what was typed."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

import pytest

from course.cli import main
from course.parser import _parser
from grader.__main__ import _parser as graders_parser
from lab.command_line import words_of_argparse
from lab.language import ENGLISH, LANGUAGES, speaking, use

OTHERS = [code for code in LANGUAGES if code != ENGLISH]


@pytest.fixture(autouse=True)
def _as_in_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COLUMNS", "80")
    yield
    use(ENGLISH)


def parsers(language: str) -> dict[str, argparse.ArgumentParser]:
    """The parser of every command by what is typed for it."""
    with speaking(language):
        left = [_parser(grades=True), graders_parser()]
    found = {}
    while left:
        parser = left.pop()
        found[parser.prog] = parser
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                left += action.choices.values()
    return found


def texts(parser: argparse.ArgumentParser) -> dict[str, str | None]:
    """What is said about a command and each of its arguments."""
    own = {"description": parser.description, "epilog": parser.epilog}
    groups = {f"group {i}": group.title for i, group in enumerate(parser._action_groups[2:])}
    arguments = {f"argument {action.dest}": action.help for action in parser._actions if action.dest != "help"}
    commands = {
        f"command {pseudo.dest}": pseudo.help
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for pseudo in action._choices_actions
    }
    return {**own, **groups, **arguments, **commands}


@pytest.mark.parametrize("language", OTHERS)
def test_whatever_help_says_in_english_it_says_in_the_other_languages(language: str) -> None:
    english, other = parsers(ENGLISH), parsers(language)
    assert english.keys() == other.keys()
    for name, parser in english.items():
        said = texts(other[name])
        same = {what: text for what, text in texts(parser).items() if text and said[what] == text}
        assert same == {}, name


@pytest.mark.parametrize("language", LANGUAGES)
def test_help_is_no_wider_than_80_columns(language: str) -> None:
    for name, parser in parsers(language).items():
        with speaking(language), words_of_argparse():
            wide = [line for line in parser.format_help().splitlines() if len(line) > 80]
        assert wide == [], name


@pytest.mark.parametrize(
    ("given", "italian", "french"),
    [
        (["--help"], "uso: profile-first", "utilisation\N{NO-BREAK SPACE}: profile-first"),
        (["check", "--help"], "\nopzioni:", "\noptions\N{NO-BREAK SPACE}:"),
        (["check"], "argomenti mancanti: ESERCIZIO|FILE", "arguments manquants\N{NO-BREAK SPACE}: EXERCICE|FICHIER"),
        (
            ["check", "x", "--seed"],
            "argomento --seed: serve un valore",
            "--seed\N{NO-BREAK SPACE}: une valeur est attendue",
        ),
        (["list", "--nonsense"], "argomenti non riconosciuti: --nonsense", "arguments non reconnus"),
        (["nonsense"], "'nonsense' non è tra le scelte possibili", "'nonsense' n'est pas un choix possible"),
        (["serve", "--port", "x"], "'x' non è una porta", "'x' n'est pas un port"),
        (["diagnose", "--compare", "x"], "servono 2 valori", "2 valeurs sont attendues"),
    ],
)
def test_what_argparse_says_is_in_the_language(
    given: list[str], italian: str, french: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for language, said in (("it", italian), ("fr", french)):
        with pytest.raises(SystemExit):
            main(["--lang", language, *given])
        assert said in "".join(capsys.readouterr())


def test_programs_that_are_started_find_the_language_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGUAGE", raising=False)
    with speaking("it"), words_of_argparse():
        assert os.environ["LANGUAGE"] == "it"
    assert "LANGUAGE" not in os.environ
    monkeypatch.setenv("LANGUAGE", "de")
    with speaking("fr"), words_of_argparse():
        assert os.environ["LANGUAGE"] == "fr"
    assert os.environ["LANGUAGE"] == "de"
