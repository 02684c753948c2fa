"""Each known mistake is recognised by a check, explained by a card, and shown by a wrong submission."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from grader.lint.checks import texts_in
from grader.lint.lessons import cards
from grader.lint.places import Course
from grader.mistakes import Misconception
from grader.toml import read_toml

FEWEST_RIGHT = 2
RIGHT = "right_"


class Constant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer that looks right and wasn't measured."""

    function: str
    returns: str


class About(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of an exercise's submissions: exercise.toml."""

    starter_makes: str
    constant: Constant


def about(course: Course, exercise: str) -> About:
    """What exercise.toml says. Raises ValueError, or OSError where there is none."""
    return read_toml((course.submissions / exercise / "exercise.toml").read_text(encoding="utf-8"), About)


def complaints(course: Course, known: dict[str, Misconception]) -> Iterator[str]:
    toml, existing = course.name(course.misconceptions), cards(course)
    for mistake, misconception in known.items():
        if misconception.card not in existing:
            yield f"{toml}: [{mistake}] has card = {misconception.card!r}, which doesn't exist. Name a card."
        if not re.fullmatch(r"S\d+\.\d+", misconception.source or ""):
            yield f'{toml}: [{mistake}] has no source. Write source = "S2.1", where it was found.'
    if not course.submissions.parent.is_dir():
        return  # an installed course
    shown: set[str] = set()
    for folder in sorted(path for path in course.submissions.glob("*/*") if path.is_dir()):
        exercise = f"{folder.parent.name}/{folder.name}"
        if exercise not in course.exercise_ids():
            yield f"{course.name(folder)}: there is no exercise {exercise}. Rename the folder, or remove it."
    for exercise in course.exercise_ids():
        yield from _of_exercise(course, exercise, known)
        shown |= {_mistake(file) for file in _wrong(course, exercise)}
    used = {text for exercise in course.exercise_ids() for text in _named(course, exercise)}
    for mistake in known:
        if mistake not in used:
            yield f"{toml}: no check names [{mistake}]. Use it in a check, or remove it."
        elif mistake not in shown:
            exercise = next(each for each in course.exercise_ids() if mistake in _named(course, each))
            wanted = course.name(course.submissions / exercise / f"{mistake}.py")
            yield f"{wanted}: is missing. Write a whole submission that makes this mistake and no other."


def _of_exercise(course: Course, exercise: str, known: dict[str, Misconception]) -> Iterator[str]:
    folder = course.submissions / exercise
    place = course.name(folder / "exercise.toml")
    try:
        starter_makes = about(course, exercise).starter_makes
    except OSError:
        yield f"{place}: is missing. Write into it which mistake the starter makes (starter_makes), and a [constant]."
    except ValueError as error:
        yield f"{place}: {error}. Correct it."
    else:
        constant = about(course, exercise).constant
        starter = course.exercises / f"{exercise}.py"
        if starter.is_file() and f"def {constant.function}(" not in starter.read_text(
            encoding="utf-8", errors="replace"
        ):
            yield f"{place}: the starter has no function {constant.function!r}. Correct the function in [constant]."
        if not _is_expression(constant.returns):
            yield f"{place}: returns = {constant.returns!r} is no Python expression. Correct it."
        if starter_makes not in known:
            yield f"{place}: starter_makes = {starter_makes!r}, which misconceptions.toml doesn't have. Correct it."
    named = _named(course, exercise)
    for file in _wrong(course, exercise):
        if _mistake(file) not in known:
            yield (
                f"{course.name(file)}: misconceptions.toml has no [{_mistake(file)}]. Add it, or call the file "
                f"{RIGHT}<how>.py if it is right."
            )
        elif _mistake(file) not in named:
            yield f"{course.name(file)}: no check of {exercise} names this mistake. Use it there, or move the file."
    right = list(folder.glob(f"{RIGHT}*.py"))
    if len(right) < FEWEST_RIGHT:
        yield (
            f"{course.name(folder)}: shows {len(right)} other right ways ({RIGHT}<how>.py). "
            f"Write {FEWEST_RIGHT} or more, so that they stay right."
        )


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def _wrong(course: Course, exercise: str) -> list[Path]:
    files = (course.submissions / exercise).glob("*.py")
    return sorted(file for file in files if not file.name.startswith(RIGHT))


def _mistake(file: Path) -> str:
    """What a wrong submission makes: `<mistake>.py`, or `<mistake>__<how>.py` for another way to make it."""
    return file.stem.partition("__")[0]


def _named(course: Course, exercise: str) -> set[str]:
    checks = course.checks_of(exercise)
    return texts_in(checks) if checks.is_file() else set()
