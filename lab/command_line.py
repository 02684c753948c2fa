"""What the command lines of the house share: argparse in the reader's language, and help that fits the terminal."""

from __future__ import annotations

import argparse
import gettext
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.language import ENGLISH, FOLDER, _, current

DOMAIN = "argparse"
"""A catalogue of its own: these messages stand in Python, not in our code."""


class Form(argparse.HelpFormatter):
    """Each line of a description or an epilog is a paragraph, filled; indented lines stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.strip("\n").split("\n")
        return "\n".join(
            line if line[:1] in ("", " ") else super(Form, self)._fill_text(line, width, indent) for line in lines
        )


def file_to_write(text: str) -> Path:
    """The type of an argument that names a file to write: in a folder that is there, since a new one may be a slip."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(_("{path} is a folder. Give the name of a file in it.", path=path))
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(
            _("there is no folder {folder}. Make it, or give another one.", folder=path.parent)
        )
    return path


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
