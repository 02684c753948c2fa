"""The lint of the catalogues, `python -m tests.lab.catalogues`: what is missing, unused or wrongly set, and what to do.

It needs Babel, which whoever only takes the course hasn't got; so it lies among the tests.
"""

from __future__ import annotations

import ast
import gettext
import io
import re
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from lab.language import ENGLISH, LANGUAGES

ROOT = Path(__file__).parents[2]
OTHERS = [code for code in LANGUAGES if code != ENGLISH]
HOUSE = ("lab", "exercises", "grader", "course")
KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2)}
METHODS = [("checks/**.py", "grader.lint.titles:extract"), ("**.py", "python")]
"""As lab/languages/babel.cfg says."""
MESSAGES, ARGPARSE = "messages", "argparse"
"""Our own messages, and those of Python's argparse."""
HOW = "See docs/translating.md"
_PLACEHOLDER = re.compile(r"\{[^{}]*\}|%(?:\(\w+\))?[srd]")

Id = str | tuple[str, ...]


def complaints(root: Path = ROOT) -> Iterator[str]:
    """Everything that is wrong with the catalogues of a course."""
    code = in_the_code(root)
    for language in OTHERS:
        for domain in (MESSAGES, ARGPARSE):
            file = file_of(root, language, domain)
            place = file.relative_to(root).as_posix()
            if not file.is_file():
                yield f"{place}: is missing. {HOW}."
                continue
            catalogue = read(file, language)
            if domain == MESSAGES:
                yield from _of_the_code(place, catalogue, code)
            for message in catalogue:
                if message.id:
                    yield from (f"{place}: {each}" for each in of_message(message, language))
            yield from _compiled(file, place, catalogue)
    yield from hidden(root)


def file_of(root: Path, language: str, domain: str = MESSAGES) -> Path:
    return root / "lab" / "languages" / language / "LC_MESSAGES" / f"{domain}.po"


def read(file: Path, language: str) -> Catalog:
    with file.open("rb") as opened:
        return read_po(opened, locale=language)


def in_the_code(root: Path = ROOT) -> frozenset[Id]:
    """The messages that are marked."""
    found: set[Id] = set()
    for floor in HOUSE:
        for _file, _line, message, _comments, _context in extract_from_dir(root / floor, METHODS, keywords=KEYWORDS):
            found.add(message if isinstance(message, str) else tuple(message))
    return frozenset(found)


def texts(said: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else tuple(said)


def _of_the_code(place: str, catalogue: Catalog, code: frozenset[Id]) -> Iterator[str]:
    known: set[Id] = {message.id if isinstance(message.id, str) else tuple(message.id) for message in catalogue}
    known.discard("")
    for each in sorted(code - known, key=str):
        yield f"{place}: {texts(each)[0]!r} isn't in it. {HOW}: pybabel extract, pybabel update, and translate it."
    for each in sorted(known - code, key=str):
        yield f"{place}: {texts(each)[0]!r} isn't said by the code any more. Remove it."


def of_message(message: Message, language: str) -> Iterator[str]:
    """What is wrong with the translation of one message."""
    ids, said = texts(message.id), texts(message.string)
    for each in said:
        if not each:
            yield f"{ids[0]!r} isn't translated. Translate it, with all its plurals."
        elif set(_PLACEHOLDER.findall(each)) != set(_PLACEHOLDER.findall(ids[-1])):
            yield f"{ids[0]!r} has other placeholders than {each!r}. Keep them as they are."
        elif (ids[0][:1] == " ") != (each[:1] == " ") or (ids[0][-1] == " ") != (each[-1] == " "):
            yield f"{ids[0]!r} begins or ends with other spaces than {each!r}. Begin and end it alike."
        if language == "fr" and not french_typography(each):
            yield f"{each!r} isn't set as French is. Write U+202F before ; ! ?, U+00A0 before : and inside of « »."
    if message.fuzzy:
        yield f"{ids[0]!r} is fuzzy. Read the translation again, and remove the mark."


def french_typography(text: str) -> bool:
    """Whether no plain space stands where French has one that doesn't break."""
    return not re.search(r"\S [;!?](?:\s|$)|\w :(?:\s|$)|« | »", text)


def _compiled(file: Path, place: str, catalogue: Catalog) -> Iterator[str]:
    """The .mo must say what the .po says: it is what is read."""
    binary = file.with_suffix(".mo")
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    if not binary.is_file() or _said_by(binary.read_bytes()) != _said_by(compiled.read()):
        yield f"{place}: its .mo says something else. Compile it: pybabel compile -D {file.stem} -d lab/languages."


def _said_by(compiled: bytes) -> dict[object, str]:
    found: dict[object, str] = gettext.GNUTranslations(io.BytesIO(compiled))._catalog  # type: ignore[attr-defined]
    return found


def hidden(root: Path = ROOT) -> Iterator[str]:
    """Messages where Babel finds none, or another one than is said; and those that are said too early."""
    for floor in HOUSE:
        for file in sorted((root / floor).rglob("*.py")):
            tree = ast.parse(file.read_text("utf-8"))
            early = set(_run_at_import(tree))
            for node in ast.walk(tree):
                place = f"{file.relative_to(root).as_posix()}:{getattr(node, 'lineno', 0)}"
                if isinstance(node, ast.JoinedStr) and any(map(_is_marked, ast.walk(node))):
                    yield f"{place}: a message in an f-string isn't found. Say it before, and put it into the f-string."
                elif _is_marked(node) and any(isinstance(each, ast.JoinedStr) for each in node.args[:2]):
                    yield f"{place}: an f-string is no message. Write {{names}} into it, their values behind it."
                elif node in early and _is_marked(node) and node.func.id != "N_":
                    yield f"{place}: the language isn't known yet when this is said. Mark it with N_, and say it later."


def _run_at_import(node: ast.AST) -> Iterator[ast.AST]:
    """What is run when a module is imported: all of it but what functions have inside."""
    for child in ast.iter_child_nodes(node):
        yield child
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            child = child.args  # with their defaults
        yield from _run_at_import(child)


def _is_marked(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in KEYWORDS
        and bool(node.args)
        and isinstance(node.args[0], (ast.Constant, ast.JoinedStr))
    )


if __name__ == "__main__":
    told = list(complaints())
    print("\n".join(told))
    raise SystemExit(bool(told))
