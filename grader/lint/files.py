"""An exercise is a starter, a solution and checks; none goes without the others, and no other file lies among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from grader.lesson_files import unclosed_fence
from grader.lint.places import Course
from grader.percent import Cell, split

LANGUAGES = ("en", "it", "fr")
_LANGUAGE = f"(?:{'|'.join(LANGUAGES)})"
_NAME = "[a-z][a-z0-9_]*"


def read_text(course: Course, file: Path) -> tuple[str, str | None]:
    """A Markdown file's text; or why it can't be read as lessons and the glossary are."""
    place = course.name(file)
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        return "", f"{place}: isn't UTF-8 ({error}). Save it as UTF-8."
    if begun := unclosed_fence(text):
        return "", f"{place}:{begun}: this block of code has no end, so all below is part of it. Close it with ```."
    return text, None


def complaints(course: Course) -> Iterator[str]:
    for exercise in course.exercise_ids():
        yield from _three_parts(course, exercise)
        yield from _same_task(course, exercise)
    yield from _strays(course)


def _three_parts(course: Course, exercise: str) -> Iterator[str]:
    parts = {
        "starter": course.starter(exercise),
        "solution": course.solution(exercise),
        "checks": course.checks_of(exercise),
    }
    there = ", ".join(course.name(path) for path in parts.values() if path.is_file())
    for part, path in parts.items():
        if not path.is_file():
            yield f"{course.name(path)}: {exercise} has no {part}. Write this file, or remove {there}."


def _same_task(course: Course, exercise: str) -> Iterator[str]:
    first: list[Cell | None] = []
    for path in (course.starter(exercise), course.solution(exercise)):
        if not path.is_file():
            return
        try:
            cells = split(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            yield f"{course.name(path)}: isn't UTF-8 ({error}). Save it as UTF-8."
            return
        first.append(cells[0] if cells else None)
        task = first[-1]
        if task is None or task.kind != "markdown" or not task.source.startswith("# "):
            yield f"{course.name(path)}: doesn't begin with its task. Begin it with '# %% [markdown]' and '# # Title'."
        if not any(re.search(r"^def ", cell.source, re.MULTILINE) for cell in cells if cell.kind == "code"):
            yield f"{course.name(path)}: defines no function. A submission is graded by calling one."
    if first[0] != first[1]:
        starter, solution = course.name(course.starter(exercise)), course.name(course.solution(exercise))
        yield f"{solution}: states another task than {starter}. Copy the starter's first cell."


def _strays(course: Course) -> Iterator[str]:
    belongs = {
        course.exercises: (
            rf"__init__\.py|{_NAME}/(?:{_NAME}\.py|quiz\.{_LANGUAGE}\.toml|tasks\.{_LANGUAGE}\.md)",
            "<lesson>/<exercise>.py",
        ),
        course.solutions: (rf"__init__\.py|{_NAME}/(?:{_NAME}\.py|quiz\.{_LANGUAGE}\.toml)", "<lesson>/<exercise>.py"),
        course.checks: (rf"{_NAME}/test_{_NAME}\.py", "<lesson>/test_<exercise>.py"),
        course.lessons: (rf"\d+_{_NAME}/(?:lesson\.toml|{_LANGUAGE}\.md)", "<n>_<lesson>/lesson.toml or en.md"),
        course.glossary: (rf"glossary\.toml|{_LANGUAGE}\.md", "glossary.toml or en.md"),
        course.submissions: (rf"{_NAME}/{_NAME}/(?:exercise\.toml|{_NAME}\.py)", "<lesson>/<exercise>/<mistake>.py"),
    }
    for folder, (pattern, example) in belongs.items():
        for path in _files(folder):
            if not re.fullmatch(pattern, path.relative_to(folder).as_posix()):
                yield f"{course.name(path)}: doesn't belong there. Files in this folder are called {example}."


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("."):
            yield path
