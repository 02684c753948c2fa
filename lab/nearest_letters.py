"""What a terminal's encoding has no letters for is printed with the nearest ones that it has."""

from __future__ import annotations

import codecs
import sys
from io import TextIOWrapper

NAME = "nearest-letters"


def print_nearest_letters() -> None:
    """From now on stdout and stderr take any text: a name that isn't UTF-8, French where there is Latin-1."""
    codecs.register_error(NAME, _nearest)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors in ("strict", "backslashreplace"):
            stream.reconfigure(errors=NAME)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """`e` for an e with an accent, a space for a narrow one; a question mark for what has nothing near it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    import unicodedata

    said = ""
    for letter in error.object[error.start : error.end]:
        plain = "".join(each for each in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(each))
        said += plain if plain and plain.isascii() else "?"
    return said, error.end
