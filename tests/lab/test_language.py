"""Messages, plurals and numbers in each language, and which language is begun in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.language import _, known, ngettext, number, of_environment, speaking, use


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    use("en")
    yield
    use("en")


def test_a_message_is_said_in_the_language_that_is_spoken() -> None:
    assert _("Help") == "Help"
    with speaking("it"):
        assert _("Help") == "Aiuto"
    with speaking("fr"):
        assert _("Help") == "Aide"
    assert _("Help") == "Help"


def test_a_message_that_a_language_lacks_stays_english() -> None:
    with speaking("it"):
        assert _("Nobody has translated {what}.", what="this") == "Nobody has translated this."


@pytest.mark.parametrize(
    ("language", "count", "said"),
    [
        ("en", 1, "1 change"),
        ("en", 0, "0 changes"),
        ("it", 1, "1 modifica"),
        ("it", 3, "3 modifiche"),
        ("fr", 0, "0 modification"),
        ("fr", 2, "2 modifications"),
    ],
)
def test_plurals_follow_the_language(language: str, count: int, said: str) -> None:
    with speaking(language):
        assert ngettext("{n} change", "{n} changes", count) == said


def test_numbers_are_written_as_the_language_writes_them() -> None:
    assert number(1234.5, ",.1f") == "1,234.5"
    assert _("{share:.0%} less", share=0.5) == "50% less"
    with speaking("it"):
        assert number(1234.5, ",.1f") == "1\N{NARROW NO-BREAK SPACE}234,5"
        assert _("Checked in {took_s:.1f} s", took_s=0.5) == "Verificato in 0,5 s"
        assert _("{share:.0%} less", share=0.5) == "50% in meno"
    with speaking("fr"):
        assert _("{share:.0%} less", share=0.5) == "50\N{NO-BREAK SPACE}% de moins"


@pytest.mark.parametrize(
    ("environment", "kept", "begun"),
    [
        ({}, None, "en"),
        ({"LANG": "it_IT.UTF-8"}, None, "it"),
        ({"LANG": "de_DE.UTF-8"}, None, "en"),
        ({"LANG": "it_IT.UTF-8", "LC_MESSAGES": "fr_FR.UTF-8"}, None, "fr"),
        ({"LANG": "it_IT.UTF-8", "LC_ALL": "C"}, None, "en"),
        ({"LANG": "it_IT.UTF-8"}, "fr", "fr"),
        ({"PROFILE_FIRST_LANG": "it"}, "fr", "it"),
        ({"PROFILE_FIRST_LANG": "klingon"}, "fr", "fr"),
    ],
)
def test_what_was_told_counts_before_what_was_chosen_and_that_before_the_system(
    environment: dict[str, str], kept: str | None, begun: str
) -> None:
    assert of_environment(environment, kept) == begun


@pytest.mark.parametrize("name", ["fr", "fr_CA", "fr-FR", "Français", "français"])
def test_a_language_is_known_by_its_names(name: str) -> None:
    assert known(name) == "fr"
