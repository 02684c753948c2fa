"""Finds what is missing or inconsistent among exercises, solutions, checks, known mistakes and quizzes."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

from grader.check import CHECKS, exercise_ids
from grader.errors import CheckFault
from grader.mistakes import MISCONCEPTIONS, Misconception, read_misconceptions
from grader.quiz import EXERCISES, SOLUTIONS, quiz_ids, read_answers, read_questions


def lint(
    exercises: Path = EXERCISES,
    solutions: Path = SOLUTIONS,
    checks: Path = CHECKS,
    misconceptions: Path = MISCONCEPTIONS,
) -> list[str]:
    """Every complaint, each with the place and what to do."""
    try:
        known = read_misconceptions(misconceptions)
    except CheckFault as fault:
        return [str(fault)]
    complaints = list(_files(exercises, solutions, checks))
    for file in sorted(checks.glob("*/test_*.py")):
        complaints += _check_file(file, known)
    for quiz in quiz_ids(exercises):
        complaints += _quiz(quiz.partition("/")[0], exercises, solutions)
    return complaints


def _files(exercises: Path, solutions: Path, checks: Path) -> Iterator[str]:
    """An exercise is a starter, a solution and checks; none of the three goes without the others."""
    parts = {
        "starter (exercises/{}.py)": _modules(exercises),
        "solution (solutions/{}.py)": _modules(solutions),
        "checks": set(exercise_ids(checks)),
    }
    for exercise in sorted(set().union(*parts.values())):
        for part, having in parts.items():
            if exercise not in having:
                yield f"{exercise}: has no {part.format(exercise)}. Write it, or remove the rest of the exercise."


def _modules(folder: Path) -> set[str]:
    return {f"{file.parent.name}/{file.stem}" for file in folder.glob("*/*.py") if not file.stem.startswith("_")}


def _check_file(file: Path, known: dict[str, Misconception]) -> Iterator[str]:
    place = f"{file.parent.name}/{file.name}"
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError) as error:
        yield f"{place}: can't be read: {error}"
        return
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    if not tests:
        yield f"{place}: has no check. Write a function whose name begins with test_."
    titles: dict[str, str] = {}
    for test in tests:
        here = f"{place}:{test.lineno}: {test.name}"
        if not _has_points(test):
            yield f"{here} has no points. Add @pytest.mark.points(n) with a whole number above 0."
        title = (ast.get_docstring(test) or "").strip().partition("\n")[0]
        if not title:
            yield f"{here} has no docstring. Its first line is what the learner reads as the check's name."
        elif title in titles:
            yield f"{here} has the same first line as {titles[title]}. Learners couldn't tell them apart."
        titles.setdefault(title, test.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and node.msg is None:
            yield f"{place}:{node.lineno}: assert without a message. Say what was seen and what to do."
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "mistake":
            yield from _mistake(f"{place}:{node.lineno}", node, known)


def _has_points(test: ast.FunctionDef) -> bool:
    for decorator in test.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.points":
            match decorator.args:
                case [ast.Constant(value=int(points))] if not isinstance(points, bool) and points > 0:
                    return True
    return False


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
    needed = {
        field.partition(".")[0].partition("[")[0]
        for _, field, _, _ in string.Formatter().parse(known[mistake_id].says)
        if field is not None
    }
    for missing in sorted(needed - given):
        yield f"{place}: [{mistake_id}] says {{{missing}}}, but the check gives no value {missing}=."
    for unused in sorted(name for name in given - needed if name is not None):
        yield f"{place}: [{mistake_id}] doesn't say {{{unused}}}. Drop {unused}=, or use it in the text."


def _quiz(lesson: str, exercises: Path, solutions: Path) -> Iterator[str]:
    place = f"{lesson}/quiz"
    try:
        questions = read_questions(lesson, folder=exercises)
        answers = read_answers(lesson, folder=solutions)
    except CheckFault as fault:
        yield str(fault)
        return
    for question in questions:
        here = f"{place}: question {question.id!r}"
        choices = [choice.id for choice in question.choices]
        answer = answers.get(question.id)
        if len(set(choices)) != len(choices) or len(choices) < 2:
            yield f"{here} needs at least two choices with different ids."
        if answer is None:
            yield f"{here} has no solution. Add [{question.id}] to solutions/{lesson}/quiz.en.toml."
            continue
        if answer.right not in choices:
            yield f"{here}: the right answer {answer.right!r} is not among its choices."
        if answer.points < 1:
            yield f"{here} is worth {answer.points} points. Give it 1 or more."
        for choice in choices:
            if not answer.why.get(choice, "").strip():
                yield f"{here}: nothing says why {choice!r} is right or wrong."
        for extra in sorted(set(answer.why) - set(choices)):
            yield f"{here}: it explains {extra!r}, which is not a choice."
    ids = [question.id for question in questions]
    if len(set(ids)) != len(ids):
        yield f"{place}: two questions have the same id."
    for extra in sorted(set(answers) - set(ids)):
        yield f"{place}: there is a solution for {extra!r}, which is not asked."
