"""File and folder names made of students' ids, which may be anything."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

MAX_BYTES = 100
_DIGEST = 8
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?", re.IGNORECASE)


def safe_name(student_id: str) -> str:
    """One part of a path on any system: the id itself if it can be one, otherwise what is left of it and its digest.

    No separators, no leading dot or dash, nothing that Windows reserves, at most 100 bytes; umlauts stay.
    """
    name = "".join(_safe(character) for character in unicodedata.normalize("NFC", student_id))
    name = name.lstrip(".-~ ").rstrip(". ")
    changed = name != unicodedata.normalize("NFC", student_id)
    if not changed and name and not _RESERVED.fullmatch(name) and len(name.encode()) <= MAX_BYTES:
        return name
    return _with_digest(name, student_id, _DIGEST)


def safe_names(student_ids: Iterable[str]) -> dict[str, str]:
    """A name for each id of a class. Names that only differ in case, as two ids may, get their digest as well."""
    names: dict[str, str] = {}
    taken: dict[str, str] = {}
    for student_id in sorted(set(student_ids)):
        name, digits = safe_name(student_id), _DIGEST
        while _folded(name) in taken:
            name = _with_digest(safe_name(student_id), student_id, digits)
            digits += _DIGEST
        taken[_folded(name)] = student_id
        names[student_id] = name
    return names


def _safe(character: str) -> str:
    if character in '/\\:*?"<>|%#' or unicodedata.category(character)[0] == "C":
        return "_"
    return " " if unicodedata.category(character)[0] == "Z" else character


def _with_digest(name: str, student_id: str, digits: int) -> str:
    digest = hashlib.sha256(student_id.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    room = MAX_BYTES - len(digest) - 1
    return f"{name.encode()[:room].decode('utf-8', 'ignore').rstrip('. ') or 'student'}-{digest}"


def _folded(name: str) -> str:
    """What a file system that ignores case and the form of accents takes a name for."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFKC", name).casefold())
