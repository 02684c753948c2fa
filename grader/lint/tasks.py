"""The tasks at the top of the exercises' files: in every language, with the same code, under the lesson's title."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from grader.lesson_files import Section, outside_code, split
from grader.lint.files import read_text
from grader.lint.languages import others
from grader.lint.places import Course
from grader.percent import split as split_cells
from grader.tasks import file_of

WIDEST = 78
"""So that a line of the task, behind its `# `, is no wider than 80 columns."""
_INLINE = re.compile(r"`([^`]+)`")


def complaints(course: Course) -> Iterator[str]:
    by_lesson: dict[str, dict[str, str]] = {}
    for exercise in course.exercise_ids():
        lesson, _slash, name = exercise.partition("/")
        if (task := _task(course.starter(exercise))) is not None:
            by_lesson.setdefault(lesson, {})[name] = task
    for lesson, tasks in by_lesson.items():
        for language in others(course):
            yield from _lesson(course, lesson, language, tasks)


def _task(starter: Path) -> str | None:
    """The first cell of a starter; whether there is one is for the rules about files."""
    try:
        cells = split_cells(starter.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return cells[0].source if cells and cells[0].kind == "markdown" else None


def _lesson(course: Course, lesson: str, language: str, tasks: dict[str, str]) -> Iterator[str]:
    file = file_of(course.exercises, lesson, language)
    place = course.name(file)
    if not file.is_file():
        yield f"{place}: is missing. Write the tasks of {', '.join(tasks)} there, each as '## Title {{#name}}'."
        return
    text, wrong = read_text(course, file)
    if wrong is not None:
        yield wrong
        return
    told = {section.name: section for section in split(text).sections}
    for name in tasks.keys() - told.keys():
        yield f"{place}: has no task for {name!r}. Add '## Title {{#{name}}}' with the task of its starter."
    for name in told.keys() - tasks.keys():
        yield f"{place}: {name!r} is no exercise of the lesson. Rename or remove it."
    titles = _titles(course, lesson, language)
    for name in tasks.keys() & told.keys():
        yield from _same(f"{place}: {name!r}", told[name], tasks[name], titles.get(name))
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > WIDEST:
            yield f"{place}:{number}: is wider than {WIDEST} columns. Break the line."


def _same(here: str, told: Section, english: str, title: str | None) -> Iterator[str]:
    if title not in (None, told.title):
        yield f"{here} is called {told.title!r} here and {title!r} in the lesson. Call it the same."
    if _blocks(told.body) != _blocks(english):
        yield f"{here} has other blocks of code than the starter. Copy them from there, comments too."
    missing = set(_inline(english)) - set(_inline(told.body))
    if missing:
        listed = ", ".join(f"`{code}`" for code in sorted(missing))
        yield f"{here} lacks {listed} of the starter's task. Say it there too."


def _inline(text: str) -> list[str]:
    return _INLINE.findall("\n".join(line for line, is_prose in outside_code(text) if is_prose))


def _blocks(text: str) -> list[str]:
    return [line for line, is_prose in outside_code(text) if not is_prose]


def _titles(course: Course, lesson: str, language: str) -> dict[str, str]:
    """What the lesson calls its steps."""
    for file in course.lessons.glob(f"*_{lesson}/{language}.md"):
        try:
            return {section.name: section.title for section in split(file.read_text(encoding="utf-8")).sections}
        except UnicodeDecodeError:
            break
    return {}
