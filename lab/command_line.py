"""What the command lines of the house share: argparse in the reader's language, and help that fits the terminal."""

from __future__ import annotations

import argparse
import gettext
import os
from collections.abc import Iterator
from contextlib import contextmanager

from lab.language import ENGLISH, FOLDER, current

DOMAIN = "argparse"
"""A catalogue of its own: these messages stand in Python, not in our code."""


class Form(argparse.HelpFormatter):
    """Each line of a description or an epilog is a paragraph, filled; indented lines stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.strip("\n").split("\n")
        return "\n".join(
            line if line[:1] in ("", " ") else super(Form, self)._fill_text(line, width, indent) for line in lines
        )


@contextmanager
def words_of_argparse() -> Iterator[None]:
    """While this lasts, what argparse itself says is in the language that is spoken.

    argparse asks the gettext of the process for its words, and that asks the environment for the language. Whatever is
    started later mustn't find it there.
    """
    if current() == ENGLISH:
        yield
        return
    domain, wish = gettext.textdomain(), os.environ.get("LANGUAGE")
    gettext.bindtextdomain(DOMAIN, str(FOLDER))
    gettext.textdomain(DOMAIN)
    os.environ["LANGUAGE"] = current()
    try:
        yield
    finally:
        gettext.textdomain(domain)
        if wish is None:
            del os.environ["LANGUAGE"]
        else:
            os.environ["LANGUAGE"] = wish
