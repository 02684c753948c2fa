"""Reads a notebook that somebody handed in, as far as it can be read, without running any of it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.percent import Cell, Kind
from lab.language import _

SUFFIX = ".ipynb"
METADATA = "profile_first"
MAX_ANSWERS = 20_000  # characters of a cell with the answers to a quiz
FORMAT = 4
_ANSWERS = re.compile(r"^answers\s*(?::[^=\n]*)?=", re.MULTILINE)


class NotebookUnreadable(Exception):
    """The file can't be read as a notebook of Python code; the message says why and what to do."""


@dataclass(frozen=True)
class Notebook:
    """A notebook's cells in the order in which they stand, and the exercises that it says it is for."""

    cells: tuple[Cell, ...]
    exercises: tuple[str, ...]
    quiz_cell: int | None
    """The position of the cell that was written for the answers to a quiz."""


def read_notebook(data: bytes, name: str) -> Notebook:
    """The notebook in this file, of format 4 or an older one. Neither its metadata nor its outputs have to be valid."""
    node = _node(data, name)
    _insist_on_python(node, name)
    found = node.get("cells")
    if not isinstance(found, list):
        raise NotebookUnreadable(
            _("{name} has no list of cells, so it is no notebook. Save it again in Jupyter.", name=name)
        )
    cells = tuple(_cell(each, number, name) for number, each in enumerate(found, 1))
    own = _own(node.get("metadata")).get("exercises")
    exercises = tuple(each for each in own if isinstance(each, str)) if isinstance(own, list) else ()
    is_quiz = ("quiz" in _own(each.get("metadata")) for each in found)
    return Notebook(cells, exercises, next((i for i, quiz in enumerate(is_quiz) if quiz), None))


def _own(metadata: object) -> Mapping[str, Any]:
    own = metadata.get(METADATA) if isinstance(metadata, Mapping) else None
    return own if isinstance(own, Mapping) else {}


def _node(data: bytes, name: str) -> Any:
    import nbformat

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotebookUnreadable(
            _(
                "{name} isn't UTF-8 text (byte {start}), so it is no notebook. Save it again in Jupyter.",
                name=name,
                start=error.start,
            )
        ) from None
    if not text.strip():
        raise NotebookUnreadable(_("{name} is empty. Save the notebook in Jupyter and check that file.", name=name))
    try:
        node = nbformat.reader.reads(text)
        major = node.get("nbformat", FORMAT)
        if type(major) is int and major < FORMAT:
            node = nbformat.convert(node, FORMAT)
    except RecursionError:
        raise NotebookUnreadable(
            _("{name} is nested too deeply to be a notebook. Save it again in Jupyter.", name=name)
        ) from None
    except Exception:  # nbformat expects more of a notebook than is needed to read its code
        node = _by_hand(text, name)
    if type(node.get("nbformat", FORMAT)) is int and node.get("nbformat", FORMAT) > FORMAT:
        raise NotebookUnreadable(
            _(
                "{name} is in notebook format {format}, which is newer than {known}. Save it as a .py "
                "file in percent format, or in Jupyter as a notebook of format 4.",
                name=name,
                format=node["nbformat"],
                known=FORMAT,
            )
        )
    return node


def _by_hand(text: str, name: str) -> dict[str, Any]:
    try:
        node = json.loads(text)
    except json.JSONDecodeError as error:
        cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        why = (
            _(
                "{name} ends in the middle (line {line}), as after a download that was cut off. Get it again.",
                name=name,
                line=error.lineno,
            )
            if cut_off and text.lstrip().startswith("{")
            else _(
                "{name} isn't JSON, as a notebook is (line {line}: {reason}). Save it again in Jupyter; a "
                "Python file's name should end in .py.",
                name=name,
                line=error.lineno,
                reason=error.msg,
            )
        )
        raise NotebookUnreadable(why) from None
    except (ValueError, RecursionError) as error:
        raise NotebookUnreadable(
            _("{name} can't be read as JSON ({error}). Save it again in Jupyter.", name=name, error=error)
        ) from None
    if not isinstance(node, dict):
        raise NotebookUnreadable(_("{name} is JSON, but no notebook. Save it again in Jupyter.", name=name))
    return node


def _insist_on_python(node: Mapping[str, Any], name: str) -> None:
    metadata = node.get("metadata")
    if not isinstance(metadata, Mapping):
        return
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        described = metadata.get(part)
        language = described.get(key) if isinstance(described, Mapping) else None
        if isinstance(language, str) and language and not re.search("python", language, re.IGNORECASE):
            raise NotebookUnreadable(
                _(
                    "{name} is a notebook for {language}. The exercises are in Python: choose a Python "
                    "kernel, and save the notebook.",
                    name=name,
                    language=language[:40],
                )
            )


def _cell(found: object, number: int, name: str) -> Cell:
    source = found.get("source", "") if isinstance(found, Mapping) else None
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(found, Mapping) or not isinstance(source, str):
        raise NotebookUnreadable(
            _(
                "{name}: cell {number} has no text as its source. Save the notebook again in Jupyter.",
                name=name,
                number=number,
            )
        )
    given = found.get("cell_type")
    kind: Kind = "code" if given == "code" or (given is None and "outputs" in found) else "markdown"
    source = source.encode("utf-8", "replace").decode()  # JSON can hold half a character, a file can't
    return Cell("raw" if given == "raw" else kind, source.replace("\r\n", "\n"))


def answers_in(notebook: Notebook) -> dict[str, object]:
    """The answers to the quiz: the dictionary called `answers`. Raises ValueError, which says why there are none."""
    holding = [i for i, cell in enumerate(notebook.cells) if cell.kind == "code" and _ANSWERS.search(cell.source)]
    at = notebook.quiz_cell if notebook.quiz_cell in holding else holding[-1] if holding else None
    if at is None:
        raise ValueError(_("no cell begins with `answers = {`. Keep the cell that the notebook came with."))
    here, source = _("cell {cell}", cell=at + 1), notebook.cells[at].source
    if len(source) > MAX_ANSWERS:
        raise ValueError(_("{here} is too long. Write only the answers into it.", here=here))
    try:
        statements = ast.parse(source).body
    except SyntaxError as error:
        raise ValueError(_("{here}, line {line}: {reason}.", here=here, line=error.lineno, reason=error.msg)) from None
    except (ValueError, RecursionError, MemoryError):
        raise ValueError(_("{here} isn't Python. Write only the answers into it.", here=here)) from None
    for statement in reversed(statements):
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id="answers")], value=value)
                | ast.AnnAssign(target=ast.Name(id="answers"), value=ast.expr() as value)
            ):
                return _dictionary(value, _("{here}, line {line}", here=here, line=statement.lineno))
    raise ValueError(_("{here} has no `answers = {{…}}`. Keep the cell that the notebook came with.", here=here))


def _dictionary(value: ast.expr, here: str) -> dict[str, object]:
    try:
        answers = ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        answers = None
    if not isinstance(answers, dict):
        raise ValueError(
            _("{here}: the answers are read without running the cell, so write them out as a dictionary.", here=here)
        )
    return {str(question): choice for question, choice in answers.items()}
