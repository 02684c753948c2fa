"""The lessons, their steps and exercises as typed objects, read from `course/lessons`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

from course import folders

StepKind = Literal["card", "exercise", "quiz", "recap"]
KINDS: tuple[StepKind, ...] = ("card", "exercise", "quiz", "recap")

_SECTION = re.compile(r"^## +(?P<title>.+?) *\{#(?P<name>[\w-]+)\} *$")
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
_HINT = re.compile(r"^### +Hint\b.*$")
_PREDICT = re.compile(r"^```predict\n(?P<body>.*?)^```$\n?", re.MULTILINE | re.DOTALL)
_RUNNABLE = re.compile(r"^```python run$", re.MULTILINE)
_CHOICE = re.compile(r"^- \[([ x])\] +", re.MULTILINE)
MOST_CHOICES = 4
_FOLDER = re.compile(r"^(?P<number>\d+)_(?P<lesson>[a-z][a-z0-9_]*)$")


class CatalogError(Exception):
    """A lesson's files can't be read as a lesson; the message names the file and the fix."""


@dataclass(frozen=True)
class Prediction:
    """A question that the learner answers before a card's program is run."""

    question: str
    choices: tuple[str, ...]
    right: int | None
    """The position of the right choice; None where it depends on the machine."""
    why: str
    """What is said beside the output."""


@dataclass(frozen=True)
class Step:
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


@dataclass(frozen=True)
class Lesson:
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


@dataclass(frozen=True)
class Catalog:
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


def load(folder: Path = folders.LESSONS, language: str = "en") -> Catalog:
    """Read all lessons under `folder`."""
    found = sorted((int(match["number"]), match["lesson"], path) for match, path in _lesson_folders(folder))
    if not found:
        raise CatalogError(f"No lessons in {folder}: the installation is incomplete. Install profile-first again.")
    return Catalog(tuple(_read_lesson(path, number, lesson, language) for number, lesson, path in found))


def _lesson_folders(folder: Path) -> Iterator[tuple[re.Match[str], Path]]:
    for path in folder.iterdir() if folder.is_dir() else ():
        match = _FOLDER.match(path.name)
        if match and path.is_dir():
            yield match, path


def _read_lesson(folder: Path, number: int, lesson_id: str, language: str) -> Lesson:
    order_file, text_file = folder / "lesson.toml", folder / f"{language}.md"
    try:
        order = tomllib.loads(order_file.read_text("utf-8"))
        text = text_file.read_text("utf-8")
    except OSError as error:
        raise CatalogError(
            f"{error.filename}: {error.strerror}. A lesson needs lesson.toml and {language}.md."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(f"{folder}: {error}") from error
    title, promise, sections = _split(text, text_file)
    steps = tuple(_step(entry, lesson_id, sections, order_file, text_file) for entry in order.get("steps", ()))
    if not steps:
        raise CatalogError(f"{order_file}: no [[steps]]. List the lesson's steps in order.")
    return Lesson(lesson_id, number, title, promise, int(order.get("minutes", 0)), steps)


def _step(
    entry: dict[str, Any], lesson_id: str, sections: dict[str, tuple[str, str]], order_file: Path, text_file: Path
) -> Step:
    kinds = [kind for kind in KINDS if kind in entry]
    if len(kinds) != 1:
        raise CatalogError(f"{order_file}: a step has exactly one of {', '.join(KINDS)}; this one is {entry!r}.")
    kind, name = kinds[0], entry[kinds[0]]
    if name not in sections:
        raise CatalogError(f"{text_file}: no section '## … {{#{name}}}' for the step {name!r} of {order_file.name}.")
    title, body = sections[name]
    brief, *hints = _split_hints(body) if kind == "exercise" else [body]
    why = str(entry.get("why", ""))
    if why and why not in sections:
        raise CatalogError(f"{order_file}: {name!r} has why = {why!r}, but {text_file.name} has no such card.")
    prediction = None
    if kind == "card" and (fenced := _PREDICT.search(brief)):
        prediction = _prediction(fenced["body"], f"{text_file}: the prediction of {{#{name}}}")
        brief = (brief[: fenced.start()] + brief[fenced.end() :]).strip()
        if not _RUNNABLE.search(brief):
            raise CatalogError(f"{text_file}: {{#{name}}} has a prediction but no ```python run. Add the program.")
    return Step(kind, lesson_id, name, title, brief, int(entry.get("points", 0)), tuple(hints), why, prediction)


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
    question, why, *choices = (" ".join(text.split()) for text in (question, why, *texts))
    return Prediction(question, tuple(choices), right, why)


def _outside_code(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is prose (True) or part of a fenced block (False)."""
    fence = ""
    for line in text.splitlines():
        match = _FENCE.match(line)
        if fence:
            yield line, False
            if match and match["mark"].startswith(fence) and not match["info"].strip():
                fence = ""
        elif match:
            fence = match["mark"]
            yield line, False
        else:
            yield line, True


def _split(text: str, text_file: Path) -> tuple[str, str, dict[str, tuple[str, str]]]:
    """A lesson's title, its promise, and its sections by name as (title, body)."""
    title, opening, sections = "", list[str](), dict[str, tuple[str, list[str]]]()
    name: str | None = None
    for line, is_prose in _outside_code(text):
        match = _SECTION.match(line) if is_prose else None
        if match:
            name = match["name"]
            if name in sections:
                raise CatalogError(f"{text_file}: two sections are called {{#{name}}}. Rename one.")
            sections[name] = (match["title"], [])
        elif name is not None:
            sections[name][1].append(line)
        elif line.startswith("# ") and not title:
            title = line[2:].strip()
        else:
            opening.append(line)
    if not title:
        raise CatalogError(f"{text_file}: the first line should be '# Title of the lesson'.")
    promise = " ".join("\n".join(opening).split())
    return title, promise, {key: (head, "\n".join(body).strip()) for key, (head, body) in sections.items()}


def _split_hints(body: str) -> list[str]:
    """The brief, then each hint."""
    parts: list[list[str]] = [[]]
    for line, is_prose in _outside_code(body):
        if is_prose and _HINT.match(line):
            parts.append([])
        else:
            parts[-1].append(line)
    return ["\n".join(part).strip() for part in parts]
