"""Each exercise and quiz is one step of a lesson: with a text, three hints or more, its points, and a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import CheckFault
from grader.lesson_files import KINDS, kind_and_name, number_and_id, outside_code, read_order, split
from grader.lint.checks import points_of
from grader.lint.files import LANGUAGES, read_text
from grader.lint.height import BRIEF_LINES, CARD_LINES, FENCED_COLUMNS, height, too_wide
from grader.lint.places import Course
from grader.percent import split as split_cells
from grader.quiz import read_answers

KEYS = (*KINDS, "why", "points")
FEWEST_HINTS = 3
MOST_LINES = {"card": CARD_LINES, "recap": CARD_LINES, "exercise": BRIEF_LINES}
_PREDICT = re.compile(r"^```predict\n.*?^```\n+", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Lesson:
    """A lesson's steps as its lesson.toml lists them."""

    id: str
    number: int
    folder: Path
    steps: tuple[dict[str, Any], ...]


def complaints(course: Course) -> Iterator[str]:
    lessons: list[Lesson] = []
    for folder in sorted(path for path in course.lessons.glob("*") if path.is_dir() and "__" not in path.name):
        named = number_and_id(folder)
        if named is None:
            yield f"{course.name(folder)}: isn't the name of a lesson. Call the folder <number>_<lesson>."
            continue
        read = _read(course, folder, *named)
        if isinstance(read, str):
            yield read
        else:
            lessons.append(read)
            yield from _lesson(course, read)
    for lesson in lessons:
        same = [each for each in lessons if lesson.number == each.number or lesson.id == each.id]
        if same[0] is not lesson:
            yield f"{course.name(lesson.folder)}: has the number or the name of {same[0].folder.name}. Rename one."
    numbers = {lesson.number for lesson in lessons}
    for number in sorted(set(range(1, max(numbers, default=0))) - numbers):
        yield f"{course.name(course.lessons)}: there is no lesson {number}. Number the folders from 1 without a gap."
    listed = {
        f"{lesson.id}/{name}"
        for lesson in lessons
        for kind, name in map(_kind_and_name, lesson.steps)
        if kind in ("exercise", "quiz")
    }
    for missing in sorted({*course.exercise_ids(), *(f"{each}/quiz" for each in course.quiz_lessons())} - listed):
        lesson_id, _, name = missing.partition("/")
        kind = "quiz" if name == "quiz" else "exercise"
        order = f"{_folder_of(course, lesson_id)}/lesson.toml"
        yield f'{order}: {missing} is no step of a lesson. Add [[steps]] with {kind} = "{name}".'


def cards(course: Course) -> set[str]:
    """The ids of all cards, `<lesson>/<card>`."""
    found = set()
    for folder in course.lessons.glob("*_*"):
        named = number_and_id(folder)
        read = _read(course, folder, *named) if named is not None else ""
        if isinstance(read, Lesson):
            found |= {f"{read.id}/{step['card']}" for step in read.steps if isinstance(step.get("card"), str)}
    return found


def _folder_of(course: Course, lesson: str) -> str:
    folder = next(course.lessons.glob(f"[0-9]*_{lesson}"), course.lessons / f"<n>_{lesson}")
    return course.name(folder)


def _read(course: Course, folder: Path, number: int, lesson: str) -> Lesson | str:
    order = folder / "lesson.toml"
    try:
        steps = read_order(order).get("steps")
    except (OSError, ValueError) as error:
        return f"{course.name(order)}: can't be read: {getattr(error, 'strerror', None) or error}. Correct it."
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        return f"{course.name(order)}: has no [[steps]]. List the lesson's steps in order."
    return Lesson(lesson, number, folder, tuple(steps))


def _kind_and_name(step: dict[str, Any]) -> tuple[str, str]:
    return kind_and_name(step) or ("", "")


def _lesson(course: Course, lesson: Lesson) -> Iterator[str]:
    order = course.name(lesson.folder / "lesson.toml")
    steps = list(map(_kind_and_name, lesson.steps))
    ids = [name for _, name in steps if name]
    for step, (kind, _) in zip(lesson.steps, steps, strict=True):
        if not kind:
            yield f"{order}: a step has exactly one of {', '.join(KINDS)}, not {step!r}. Correct it."
        for key in sorted(set(step) - set(KEYS)):
            yield f"{order}: a step has {key!r}, which nobody reads. Correct it: there are {', '.join(KEYS)}."
    for name in sorted({name for name in ids if ids.count(name) > 1}):
        yield f"{order}: two steps are called {name!r}. Rename one."
    if not (lesson.folder / "en.md").is_file():
        yield f"{course.name(lesson.folder / 'en.md')}: is missing. Write the lesson's text."
    for language in LANGUAGES:
        text = lesson.folder / f"{language}.md"
        if text.is_file():
            yield from _text(course, lesson, text, steps)
    before: list[str] = []
    for step, (kind, name) in zip(lesson.steps, steps, strict=True):
        if kind in ("exercise", "quiz"):
            yield from _graded(course, lesson, order, step, kind, name)
        if kind == "exercise" and step.get("why") not in before:
            yield f'{order}: {name!r} doesn\'t say why it matters. Add why = "<a card before it>".'
        if kind == "card":
            before.append(name)


def _graded(course: Course, lesson: Lesson, order: str, step: dict[str, Any], kind: str, name: str) -> Iterator[str]:
    if kind == "exercise":
        exercise = f"{lesson.id}/{name}"
        if exercise not in course.exercise_ids():
            yield f"{order}: there is no exercise {exercise}. Write exercises/{exercise}.py, or drop the step."
            return
        points = points_of(course.checks_of(exercise))
    else:
        try:
            points = sum(each.points for each in read_answers(lesson.id, folder=course.solutions).values())
        except CheckFault:
            points = None
        if lesson.id not in course.quiz_lessons():
            yield f"{order}: {lesson.id} has no quiz. Write exercises/{lesson.id}/quiz.en.toml, or drop the step."
    given = step.get("points")
    if points is not None and given != points:
        yield f"{order}: {name!r} has points = {given!r}, its checks give {points}. Write points = {points}."


def _text(course: Course, lesson: Lesson, file: Path, steps: list[tuple[str, str]]) -> Iterator[str]:
    place = course.name(file)
    text, complaint = read_text(course, file)
    if complaint is not None:
        yield complaint
        return
    sections = split(text).sections
    names = [name for _, name in steps if name]
    found = [section.name for section in sections]
    for name in sorted({name for name in found if found.count(name) > 1}):
        yield f"{place}: two sections are called {{#{name}}}. Rename one."
    for name in (name for name in names if name not in found):
        yield f"{place}: has no section for the step {name!r}. Write '## Title {{#{name}}}' and its text."
    for name in (name for name in found if name not in names):
        yield f"{place}: the section {{#{name}}} is no step. List it in lesson.toml, or remove it."
    for line in (line for line, is_prose in outside_code(text) if is_prose and re.match(r"## ", line)):
        if "{#" not in line:
            yield f"{place}: the heading {line!r} has no name. Add {{#name}}, or use ### inside of a step."
    if set(names) == set(found) and names != found:
        yield f"{place}: the sections stand in another order than the steps of lesson.toml. Move them."
    by_name = {section.name: section for section in sections}
    for kind, name in steps:
        section = by_name.get(name)
        if section is None:
            continue
        brief, hints = section.split_hints() if kind == "exercise" else (_PREDICT.sub("", section.body), ())
        if not brief:
            yield f"{place}: the section {{#{name}}} is empty. Write its text."
        lines, most = height(brief), MOST_LINES.get(kind)
        if most is not None and lines > most:
            yield f"{place}: {{#{name}}} takes {lines} lines on a terminal of 80x24. Cut it to {most}."
        for line in too_wide(section.body):
            begins = line.strip()[:30]
            yield f"{place}: {{#{name}}}: {begins!r}… is wider than {FENCED_COLUMNS} columns. Break the line."
        if kind == "exercise":
            yield from _exercise(course, place, f"{lesson.id}/{name}", section.title, hints)


def _exercise(course: Course, place: str, exercise: str, title: str, hints: tuple[str, ...]) -> Iterator[str]:
    name = exercise.partition("/")[2]
    if len(hints) < FEWEST_HINTS:
        yield (
            f"{place}: {name!r} has {len(hints)} hints. Write {FEWEST_HINTS} or more '### Hint' sections, "
            "from a nudge to nearly the answer."
        )
    if not all(hints):
        yield f"{place}: {name!r} has an empty hint. Write it, or remove its heading."
    starter = course.starter(exercise)
    if place.endswith("/en.md") and starter.is_file() and (own := _title_of(starter)) not in (None, title):
        yield f"{place}: {name!r} is called {title!r} here and {own!r} in {course.name(starter)}. Call it the same."


def _title_of(starter: Path) -> str | None:
    """The title in the first cell of an exercise's file; whether there is one is for the rules about files."""
    try:
        cells = split_cells(starter.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        return None
    first = cells[0].source.partition("\n")[0] if cells else ""
    return first[2:].strip() if first.startswith("# ") else None
