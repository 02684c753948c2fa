"""The task at the top of an exercise's file, in the reader's language.

In English it stands in the starter and in the solution; other languages have tasks.<language>.md beside them.
"""

from __future__ import annotations

import re
from pathlib import Path

from grader.lesson_files import Section, split
from lab.language import ENGLISH

_TASK = re.compile(r"# %% \[markdown\]\n(?:#.*\n)+")
"""The first cell of a file that begins with text."""


def file_of(folder: Path, lesson: str, language: str) -> Path:
    """Where the tasks of a lesson stand in a language, below the folder of the exercises."""
    return folder / lesson / f"tasks.{language}.md"


def in_language(source: str, exercise: str, folder: Path, language: str) -> str:
    """A starter or a solution with its task in a language; as it is where that has none."""
    lesson, _slash, name = exercise.partition("/")
    begins = _TASK.match(source)
    if language == ENGLISH or begins is None:
        return source
    try:
        sections = split(file_of(folder, lesson, language).read_text(encoding="utf-8")).sections
    except (OSError, UnicodeDecodeError):
        return source
    task = next((section for section in sections if section.name == name), None)
    return source if task is None else _cell(task) + source[begins.end() :]


def _cell(task: Section) -> str:
    lines = ["%% [markdown]", f"# {task.title}", "", *task.body.splitlines()]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)
