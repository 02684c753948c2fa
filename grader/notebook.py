"""Reads a notebook that somebody handed in, as far as it can be read, without running any of it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.percent import Cell, Kind

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
        raise NotebookUnreadable(f"{name} has no list of cells, so it is no notebook. Save it again in Jupyter.")
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
            f"{name} isn't UTF-8 text (byte {error.start}), so it is no notebook. Save it again in Jupyter."
        ) from None
    if not text.strip():
        raise NotebookUnreadable(f"{name} is empty. Save the notebook in Jupyter and check that file.")
    try:
        node = nbformat.reader.reads(text)
        major = node.get("nbformat", FORMAT)
        if type(major) is int and major < FORMAT:
            node = nbformat.convert(node, FORMAT)
    except RecursionError:
        raise NotebookUnreadable(f"{name} is nested too deeply to be a notebook. Save it again in Jupyter.") from None
    except Exception:  # nbformat expects more of a notebook than is needed to read its code
        node = _by_hand(text, name)
    if type(node.get("nbformat", FORMAT)) is int and node.get("nbformat", FORMAT) > FORMAT:
        raise NotebookUnreadable(
            f"{name} is in notebook format {node['nbformat']}, which is newer than {FORMAT}. "
            "Save it as a .py file in percent format, or in Jupyter as a notebook of format 4."
        )
    return node


def _by_hand(text: str, name: str) -> dict[str, Any]:
    try:
        node = json.loads(text)
    except json.JSONDecodeError as error:
        cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        why = (
            f"{name} ends in the middle (line {error.lineno}), as after a download that was cut off. Get it again."
            if cut_off and text.lstrip().startswith("{")
            else f"{name} isn't JSON, as a notebook is (line {error.lineno}: {error.msg}). "
            "Save it again in Jupyter; a Python file's name should end in .py."
        )
        raise NotebookUnreadable(why) from None
    except (ValueError, RecursionError) as error:
        raise NotebookUnreadable(f"{name} can't be read as JSON ({error}). Save it again in Jupyter.") from None
    if not isinstance(node, dict):
        raise NotebookUnreadable(f"{name} is JSON, but no notebook. Save it again in Jupyter.")
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
                f"{name} is a notebook for {language[:40]}. The exercises are in Python: choose a Python kernel, "
                "and save the notebook."
            )


def _cell(found: object, number: int, name: str) -> Cell:
    source = found.get("source", "") if isinstance(found, Mapping) else None
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(found, Mapping) or not isinstance(source, str):
        raise NotebookUnreadable(
            f"{name}: cell {number} has no text as its source. Save the notebook again in Jupyter."
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
        raise ValueError("no cell begins with `answers = {`. Keep the cell that the notebook came with.")
    here, source = f"cell {at + 1}", notebook.cells[at].source
    if len(source) > MAX_ANSWERS:
        raise ValueError(f"{here} is too long. Write only the answers into it.")
    try:
        statements = ast.parse(source).body
    except SyntaxError as error:
        raise ValueError(f"{here}, line {error.lineno}: {error.msg}.") from None
    except (ValueError, RecursionError, MemoryError):
        raise ValueError(f"{here} isn't Python. Write only the answers into it.") from None
    for statement in reversed(statements):
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id="answers")], value=value)
                | ast.AnnAssign(target=ast.Name(id="answers"), value=ast.expr() as value)
            ):
                return _dictionary(value, f"{here}, line {statement.lineno}")
    raise ValueError(f"{here} has no `answers = {{…}}`. Keep the cell that the notebook came with.")


def _dictionary(value: ast.expr, here: str) -> dict[str, object]:
    try:
        answers = ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        answers = None
    if not isinstance(answers, dict):
        raise ValueError(f"{here}: the answers are read without running the cell, so write them out as a dictionary.")
    return {str(question): choice for question, choice in answers.items()}
