"""The reports say the same in each language."""

from __future__ import annotations

import re

import pytest

from grader.reports.words import Words, languages
from lab.language import LANGUAGES

PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def test_there_are_reports_in_every_language_of_the_course() -> None:
    assert languages() == sorted(LANGUAGES)


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
def test_every_sentence_is_translated_with_its_placeholders(language: str) -> None:
    from grader.reports.words import _read

    english, said = _read("en"), _read(language)
    assert english.keys() == said.keys()
    for key, text in english.items():
        assert set(PLACEHOLDER.findall(text)) == set(PLACEHOLDER.findall(said[key])), key
    assert Words(language)("status.passed") != "passed"
