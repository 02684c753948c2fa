"""The sentences of the reports, which lie in one file for each language."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from grader.errors import GraderError
from grader.reports.csv_cells import number
from grader.toml import read_toml
from lab.language import _

FOLDER = Path(__file__).parent
FIRST = "en"


class NoSuchLanguage(GraderError):
    """There are no reports in this language."""


class Words:
    """The sentences of a language by `<table>.<key>`; English ones where it has none."""

    def __init__(self, language: str = FIRST) -> None:
        if language not in languages():
            raise NoSuchLanguage(
                _(
                    "There are no reports in {language!r}. There are some in: {listed}.",
                    language=language,
                    listed=", ".join(languages()),
                )
            )
        self.language = language
        self._sentences = {**_read(FIRST), **_read(language)}

    def __call__(self, key: str, **values: object) -> str:
        """A sentence with its blanks filled in."""
        return self._sentences[key].format_map(values)

    def all_keys(self) -> set[str]:
        """Every `<table>.<key>` that there is a sentence for."""
        return set(self._sentences)

    def number(self, value: float) -> str:
        """A number of points as people write it in the language."""
        text = number(value)
        return text if self.language == FIRST else text.replace(".", ",")

    def count(self, key: str, number: float, **values: object) -> str:
        """A sentence about a number of things: `<key>_one` for a single one."""
        return self(f"{key}_one" if number == 1 else key, n=number, **values)


def languages() -> list[str]:
    return sorted(file.stem.removeprefix("words.") for file in FOLDER.glob("words.*.toml"))


@cache
def _read(language: str) -> dict[str, str]:
    tables: dict[str, dict[str, Any]] = read_toml(
        (FOLDER / f"words.{language}.toml").read_text(encoding="utf-8"), dict[str, dict[str, Any]]
    )
    return {f"{table}.{key}": str(text) for table, sentences in tables.items() for key, text in sentences.items()}
