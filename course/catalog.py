"""The lessons, their steps and exercises as typed objects, read from `course/lessons`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from course import folders
from grader import lesson_files
from grader.lesson_files import KINDS, Section, StepKind, Text
from lab.language import ENGLISH, _, current

_PREDICT = re.compile(r"^```predict\n(?P<body>.*?)^```$\n?", re.MULTILINE | re.DOTALL)
_RUNNABLE = re.compile(r"^```python run$", re.MULTILINE)
_CHOICE = re.compile(r"^- \[([ x])\] +", re.MULTILINE)
MOST_CHOICES = 4


class CatalogError(Exception):
    """A lesson's files can't be read as a lesson; the message names the file and the fix."""


class Prediction(msgspec.Struct, frozen=True):
    """A question that the learner answers before a card's program is run."""

    question: str
    choices: tuple[str, ...]
    right: int | None
    """The position of the right choice; None where it depends on the machine."""
    why: str
    """What is said beside the output."""


class Step(msgspec.Struct, frozen=True):
    """One step of a lesson: a card, an exercise, a quiz or the recap."""

    kind: StepKind
    lesson: str
    name: str
    title: str
    text: str
    """Markdown; for an exercise, the brief without its hints."""
    points: int = 0
    hints: tuple[str, ...] = ()
    why: str = ""
    """For an exercise, the card of its lesson that says why it matters at work."""
    prediction: Prediction | None = None
    """For a card with a program, what is asked before it is run."""

    @property
    def id(self) -> str:
        """`<lesson>/<step>`, the id that the grader knows for exercises and quizzes."""
        return f"{self.lesson}/{self.name}"

    @property
    def graded(self) -> bool:
        return self.kind in ("exercise", "quiz")


class Lesson(msgspec.Struct, frozen=True):
    """A lesson: its place in the course, what one can do after it, and its steps in order."""

    id: str
    number: int
    title: str
    promise: str
    """One sentence: what one can do after the lesson."""
    minutes: int
    steps: tuple[Step, ...]

    @property
    def graded(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.graded)

    @property
    def points(self) -> int:
        return sum(step.points for step in self.steps)

    def index(self, name: str) -> int | None:
        """The position of the step called `name`, or None."""
        return next((i for i, step in enumerate(self.steps) if step.name == name), None)


class Catalog(msgspec.Struct, frozen=True):
    """All lessons in the order of the course."""

    lessons: tuple[Lesson, ...]

    def lesson(self, lesson_id: str) -> Lesson | None:
        return next((lesson for lesson in self.lessons if lesson.id == lesson_id), None)

    def step(self, step_id: str) -> Step | None:
        """The step with the id `<lesson>/<step>`, or None."""
        lesson_id, _, name = step_id.partition("/")
        lesson = self.lesson(lesson_id)
        index = lesson.index(name) if lesson else None
        return lesson.steps[index] if lesson and index is not None else None

    def graded(self) -> Iterator[Step]:
        """Every exercise and quiz, in order."""
        for lesson in self.lessons:
            yield from lesson.graded

    def after(self, step: Step) -> Step | None:
        """The step that follows, in this lesson or the next; None at the end of the course."""
        return self._beside(step, 1)

    def before(self, step: Step) -> Step | None:
        """The step before, in this lesson or the one before; None at the start of the course."""
        return self._beside(step, -1)

    def _beside(self, step: Step, distance: int) -> Step | None:
        steps = [each for lesson in self.lessons for each in lesson.steps]
        at = next(i for i, each in enumerate(steps) if each.id == step.id) + distance
        return steps[at] if 0 <= at < len(steps) else None


def load(folder: Path = folders.LESSONS, language: str | None = None) -> Catalog:
    """Read all lessons under `folder`, in the language that is spoken; what it lacks is read in English."""
    language = language or current()
    found = sorted((*number_and_id, path) for number_and_id, path in _lesson_folders(folder))
    if not found:
        raise CatalogError(
            _("No lessons in {folder}: the installation is incomplete. Install profile-first again.", folder=folder)
        )
    return Catalog(tuple(_read_lesson(path, number, lesson, language) for number, lesson, path in found))


def _lesson_folders(folder: Path) -> Iterator[tuple[tuple[int, str], Path]]:
    for path in folder.iterdir() if folder.is_dir() else ():
        number_and_id = lesson_files.number_and_id(path)
        if number_and_id is not None and path.is_dir():
            yield number_and_id, path


def _read_lesson(folder: Path, number: int, lesson_id: str, language: str) -> Lesson:
    order_file, text_file = folder / "lesson.toml", folder / f"{language}.md"
    english = folder / f"{ENGLISH}.md"
    if not text_file.is_file() and english.is_file():
        text_file = english
    try:
        order = lesson_files.read_order(order_file)
        text = lesson_files.split(text_file.read_text("utf-8"))
    except OSError as error:
        raise CatalogError(
            _(
                "{file}: {reason}. A lesson needs lesson.toml and {language}.md.",
                file=error.filename,
                reason=error.strerror,
                language=language,
            )
        ) from error
    except ValueError as error:
        raise CatalogError(f"{folder}: {error}") from error
    sections = _by_name(text, text_file)
    if text_file != english and not all(name in sections for name in _names(order)):
        sections = _by_name(lesson_files.split(english.read_text("utf-8")), english) | sections
    steps = tuple(_step(entry, lesson_id, sections, order_file, text_file) for entry in order.get("steps", ()))
    if not steps:
        raise CatalogError(f"{order_file}: no [[steps]]. List the lesson's steps in order.")
    return Lesson(lesson_id, number, text.title, text.opening, int(order.get("minutes", 0)), steps)


def _names(order: dict[str, Any]) -> Iterator[str]:
    for entry in order.get("steps", ()):
        if kind_and_name := lesson_files.kind_and_name(entry):
            yield kind_and_name[1]


def _by_name(text: Text, text_file: Path) -> dict[str, Section]:
    if not text.title:
        raise CatalogError(f"{text_file}: the first line should be '# Title of the lesson'.")
    sections: dict[str, Section] = {}
    for section in text.sections:
        if section.name in sections:
            raise CatalogError(f"{text_file}: two sections are called {{#{section.name}}}. Rename one.")
        sections[section.name] = section
    return sections


def _step(
    entry: dict[str, Any], lesson_id: str, sections: dict[str, Section], order_file: Path, text_file: Path
) -> Step:
    kind_and_name = lesson_files.kind_and_name(entry)
    if kind_and_name is None:
        raise CatalogError(f"{order_file}: a step has exactly one of {', '.join(KINDS)}; this one is {entry!r}.")
    kind, name = kind_and_name
    if name not in sections:
        raise CatalogError(f"{text_file}: no section '## … {{#{name}}}' for the step {name!r} of {order_file.name}.")
    section = sections[name]
    brief, hints = section.split_hints() if kind == "exercise" else (section.body, ())
    why = str(entry.get("why", ""))
    if why and why not in sections:
        raise CatalogError(f"{order_file}: {name!r} has why = {why!r}, but {text_file.name} has no such card.")
    prediction = None
    if kind == "card" and (fenced := _PREDICT.search(brief)):
        prediction = _prediction(fenced["body"], f"{text_file}: the prediction of {{#{name}}}")
        brief = (brief[: fenced.start()] + brief[fenced.end() :]).strip()
        if not _RUNNABLE.search(brief):
            raise CatalogError(f"{text_file}: {{#{name}}} has a prediction but no ```python run. Add the program.")
    return Step(kind, lesson_id, name, section.title, brief, int(entry.get("points", 0)), hints, why, prediction)


def _prediction(body: str, here: str) -> Prediction:
    question, *parts = _CHOICE.split(body)
    marks, texts = parts[::2], parts[1::2]
    if not question.strip():
        raise CatalogError(f"{here} has no question. Begin with it, then list the choices.")
    if not 2 <= len(marks) <= MOST_CHOICES:
        raise CatalogError(f"{here} has {len(marks)} choices. Write 2 to {MOST_CHOICES}, each as '- [ ] text'.")
    if marks.count("x") > 1:
        raise CatalogError(f"{here} has two right choices. Mark at most one with '- [x]'.")
    # The last choice ends with its line; what follows is the explanation.
    texts[-1], _, why = texts[-1].strip().partition("\n")
    if not why.strip():
        raise CatalogError(f"{here} explains nothing. Say after the choices what the output shows.")
    right = marks.index("x") if "x" in marks else None
    question, why, *choices = (lesson_files.unwrap(text) for text in (question, why, *texts))
    return Prediction(question, tuple(choices), right, why)
