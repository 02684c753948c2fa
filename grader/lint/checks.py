"""Each check has points, a name and a message for every assertion, and the mistakes that it names are known."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

from grader.lint.places import Course
from grader.mistakes import Misconception

NOT_HERE = ("torch", "lab", "exercises", "solutions", "course")
WORDS = "lab.language"
"""Of the lab, what says messages in the reader's language; nothing of a GPU comes with it."""


def complaints(course: Course, known: dict[str, Misconception]) -> Iterator[str]:
    toml = course.name(course.misconceptions)
    for mistake_id, misconception in known.items():
        for problem in _unusable(misconception.says):
            yield f"{toml}: [{mistake_id}] says what can't be filled in: {problem}. Correct it."
    for file in sorted(course.checks.glob("*/test_*.py")):
        yield from _check_file(course.name(file), file, known)


def points_of(file: Path) -> int | None:
    """The sum of the points of a file of checks; None where it can't be read."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None
    return sum(_points(test) for test in tree.body if isinstance(test, ast.FunctionDef))


def texts_in(file: Path) -> set[str]:
    """All strings that are written in a file: among them are the ids of the mistakes that it names."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return set()
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def _check_file(place: str, file: Path, known: dict[str, Misconception]) -> Iterator[str]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError) as error:
        yield f"{place}: can't be read: {error}. Correct it."
        return
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    if not tests:
        yield f"{place}: has no check. Write a function whose name begins with test_."
    titles: dict[str, str] = {}
    for test in tests:
        here = f"{place}:{test.lineno}: {test.name}"
        if not _points(test):
            yield f"{here} has no points. Add @pytest.mark.points(n) with a whole number above 0."
        title = (ast.get_docstring(test) or "").strip().partition("\n")[0]
        if not title:
            yield f"{here} has no docstring. Its first line is what the learner reads as the check's name."
        elif title in titles:
            yield f"{here} has the same first line as {titles[title]}. Learners couldn't tell them apart."
        titles.setdefault(title, test.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _import(f"{place}:{node.lineno}", node)
        if isinstance(node, ast.Assert) and node.msg is None:
            yield f"{place}:{node.lineno}: assert without a message. Say what was seen and what to do."
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "mistake":
            yield from _mistake(f"{place}:{node.lineno}", node, known)


def _points(test: ast.FunctionDef) -> int:
    for decorator in test.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.points":
            match decorator.args:
                case [ast.Constant(value=int(points))] if not isinstance(points, bool) and points > 0:
                    return points
    return 0


def _import(place: str, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    for name in names:
        if name.partition(".")[0] in NOT_HERE and name != WORDS:
            yield f"{place}: imports {name}. Checks stay clear of what learner's code runs with: take it out."


def _unusable(says: str) -> Iterator[str]:
    """What is wrong with a text whose {values} are filled in later."""
    try:
        fields = [(name, form or "") for _, name, form, _ in string.Formatter().parse(says) if name is not None]
    except ValueError as error:
        yield str(error)
        return
    for name, form in fields:
        if not name.isidentifier():
            yield f"{{{name}}} is no name"
        elif not any(_fits(value, form) for value in (1, 1.0, "text")):
            yield f"{{{name}:{form}}} is no format of a number or a text"


def _fits(value: float | str, form: str) -> bool:
    try:
        format(value, form)
    except ValueError:
        return False
    return True


def _mistake(place: str, call: ast.Call, known: dict[str, Misconception]) -> Iterator[str]:
    match call.args:
        case [ast.Constant(value=str(mistake_id))]:
            pass
        case [_]:
            return  # computed: the wrong submissions that must get this message show whether it exists
        case _:
            yield f"{place}: mistake() takes one positional argument, the id. Give the values by name."
            return
    if mistake_id not in known:
        yield f"{place}: misconceptions.toml has no [{mistake_id}]. Add it, or correct the id."
        return
    if any(keyword.arg is None for keyword in call.keywords):
        return  # **values can't be compared from here
    given = {keyword.arg for keyword in call.keywords}
    if next(_unusable(known[mistake_id].says), None):
        return  # which is said already
    needed = {
        field.partition(".")[0].partition("[")[0]
        for _, field, _, _ in string.Formatter().parse(known[mistake_id].says)
        if field is not None
    }
    for missing in sorted(needed - given):
        yield f"{place}: [{mistake_id}] says {{{missing}}}, but the check gives no value {missing}=."
    for unused in sorted(name for name in given - needed if name is not None):
        yield f"{place}: [{mistake_id}] doesn't say {{{unused}}}. Drop {unused}=, or use it in the text."
