"""What the encoding of a terminal lacks is printed with letters that it has."""

from __future__ import annotations

import io
import sys

import pytest

from course import cli
from grader.__main__ import main as grader_main
from lab.language import ENGLISH, LANGUAGES, use
from lab.nearest_letters import print_nearest_letters


def terminal(encoding: str, monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    """What arrives at a terminal of this encoding from now on."""
    arrived = io.BytesIO()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(arrived, encoding=encoding, write_through=True))
    return arrived


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("ascii", b"a 12 000 deja ? ?"),
        ("latin-1", "a 12 000 déjà ? ?".encode("latin-1")),
        ("utf-8", "a 12\u202f000 déjà ○ ?".encode()),
    ],
)
def test_each_letter_is_as_near_as_the_encoding_has_it(
    encoding: str, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = terminal(encoding, monkeypatch)
    print_nearest_letters()
    print("a 12\u202f000 déjà ○ \udcff", end="")
    assert printed.getvalue() == said


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("given", [["list"], ["--help"], ["grade", "--help"], ["hint", "nothing"]])
def test_every_language_can_be_printed_in_every_encoding(
    given: list[str], code: str, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = terminal(encoding, monkeypatch)
    try:
        for main in (cli.main, grader_main):
            try:
                main(["--lang", code, *given])
            except SystemExit:  # help, or wrong usage
                continue
    finally:
        use(ENGLISH)
    assert printed.getvalue()
