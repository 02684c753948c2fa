"""Which exercise a file is: its path says it, or the notebook itself, its name, or what is written in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.check import exercise_ids
from grader.notebook import SUFFIX, NotebookUnreadable, read_notebook
from grader.quiz import EXERCISES, quiz_ids, read_questions
from grader.source import max_bytes
from grader.tasks import in_language
from lab.language import LANGUAGES, _

GRADED = (".py", SUFFIX, ".toml")
_HEADING = re.compile(r"^#[ \t]+(\S[^\n]*)", re.MULTILINE)
_HEADING_IN_PYTHON = re.compile(r"^#[ \t]+#[ \t]+(\S[^\n]*)", re.MULTILINE)
_FUNCTION = re.compile(r"^(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_ANSWER = re.compile(r"^[ \t]*\"?([\w-]+)\"?[ \t]*=", re.MULTILINE)
_COPY = re.compile(r"(?:[ _]*\((\d+)\)|[ _-]+(?:copy|kopie|copie|copia)(?:[ _-]*(\d+))?)$", re.IGNORECASE)
_NUMBER = re.compile(r"[ _-]v?(\d{1,3})$", re.IGNORECASE)


@dataclass(frozen=True)
class Known:
    """The exercises and quizzes of the course, and what tells them apart."""

    exercises: tuple[str, ...]
    lessons: frozenset[str]
    headings: Mapping[str, str]
    """The exercise under each heading that only one has."""
    functions: Mapping[str, str]
    """The exercise of each function that only one has."""
    questions: Mapping[str, str]
    """The quiz of each question."""


@dataclass(frozen=True)
class Which:
    """The exercises that a file is for, or why they can't be told; and the rest of its name."""

    exercises: tuple[str, ...] = ()
    why: str = ""
    rest: str = ""
    """What is left of the name without the exercise's: often the student's."""
    order: int = 0
    """A number behind the name, as a second download or hand-in has."""


@cache
def this_course() -> Known:
    """What there is in the course that is installed."""
    exercises, quizzes = exercise_ids(), quiz_ids()
    headings: dict[str, set[str]] = {}
    functions: dict[str, set[str]] = {}
    questions: dict[str, set[str]] = {}
    for exercise in exercises:
        starter = (EXERCISES / f"{exercise}.py").read_text(encoding="utf-8")
        for language in LANGUAGES:
            for heading in _HEADING_IN_PYTHON.findall(in_language(starter, exercise, EXERCISES, language))[:1]:
                headings.setdefault(heading.rstrip().casefold(), set()).add(exercise)
        for function in _FUNCTION.findall(starter):
            functions.setdefault(function, set()).add(exercise)
    for quiz in quizzes:
        for question in read_questions(quiz.partition("/")[0]):
            questions.setdefault(question.id, set()).add(quiz)
    every = (*exercises, *quizzes)
    return Known(
        every, frozenset(each.partition("/")[0] for each in every), _only(headings), _only(functions), _only(questions)
    )


def _only(found: Mapping[str, set[str]]) -> dict[str, str]:
    return {key: next(iter(exercises)) for key, exercises in found.items() if len(exercises) == 1}


def which(parts: tuple[str, ...], file: Path, known: Known) -> Which:
    """The exercises that the file at this path, as it was handed in, is for."""
    stem, _dot, suffix = parts[-1].rpartition(".")
    suffix = f".{suffix.casefold()}"
    plain_stem, order = without_copy_number(stem)
    named = by_name(stem, known)
    said: tuple[str, ...] = ()
    if suffix == SUFFIX:
        try:
            said = tuple(each for each in read_notebook(_read(file), parts[-1]).exercises if each in known.exercises)
        except NotebookUnreadable:
            said = ()
    if said:
        return Which(tuple(dict.fromkeys(said)), rest=named.rest if named.exercises else plain_stem, order=order)
    folder = _lesson(parts[-2], known) if len(parts) > 1 else None
    for name in (stem, plain_stem, _NUMBER.sub("", plain_stem)):
        if folder is not None and f"{folder}/{name}" in known.exercises:
            return _allowed(Which((f"{folder}/{name}",), order=order), suffix)
    if folder is not None and suffix == ".toml" and "quiz" in stem.casefold() and f"{folder}/quiz" in known.exercises:
        return Which((f"{folder}/quiz",), order=order)
    if named.exercises or named.why:
        return _allowed(named, suffix)
    found = _by_content(_text(file, suffix), suffix, known)
    return Which(found.exercises, found.why, rest=plain_stem, order=order)


def without_copy_number(stem: str) -> tuple[str, int]:
    """A name without what browsers and file managers put behind the second file of a name, and that number."""
    if (found := _COPY.search(stem)) and found.start() > 0:
        return stem[: found.start()], int(next((group for group in found.groups() if group), "1"))
    return stem, 0


def _allowed(found: Which, suffix: str) -> Which:
    """Only a quiz is answered in TOML, or in a notebook; all else is code."""
    for exercise in found.exercises:
        wanted = (".toml" if exercise.endswith("/quiz") else ".py", SUFFIX)
        if suffix not in wanted:
            why = _(
                "{exercise} is handed in as {listed}, and this is {suffix}.",
                exercise=exercise,
                listed=_(" or ").join(wanted),
                suffix=suffix,
            )
            return Which(why=why, rest=found.rest)
    return found


def _lesson(folder: str, known: Known) -> str | None:
    """The lesson that a folder is named for, as in `synchronize` and `2_synchronize`."""
    name = re.sub(r"^\d+[_. -]+", "", folder)
    return next((each for each in (folder, name) if each in known.lessons), None)


def is_lesson(folder: str, known: Known) -> bool:
    return _lesson(folder, known) is not None


def by_name(stem: str, known: Known) -> Which:
    """The one exercise that the file's own name has in it, e.g. `anna_time_on_the_gpu (1)`."""
    found: dict[str, tuple[int, int]] = {}
    for exercise in known.exercises:
        lesson, _slash, name = exercise.partition("/")
        words, in_lesson = _words(name), _words(lesson)
        forms = [rf"{in_lesson}[\W_]+{words}"]
        forms += [rf"{words}[\W_]+{in_lesson}"] if name == "quiz" else [words]
        for form in forms:
            if match := re.search(rf"(?<![^\W_]){form}(?![^\W_])", stem, re.IGNORECASE):
                found[exercise] = match.span()
                break
    if len(found) > 1:
        return Which(why=_("its name fits {listed}.", listed=_listed(found)))
    for exercise, (begin, end) in found.items():
        # A number alone is that of a hand-in, as Canvas writes it, or a student's: the rest keeps it.
        number = _NUMBER.fullmatch(stem[end:])
        after, order = (stem[end:], int(number[1])) if number else without_copy_number(f"x{stem[end:]}")
        rest = f"{stem[:begin].strip(' _.-')} {after.removeprefix('x').strip(' _.-()')}".strip()
        return Which((exercise,), rest=rest, order=order)
    return Which()


def _words(name: str) -> str:
    return r"[\W_]+".join(map(re.escape, name.split("_")))


def _by_content(text: str, suffix: str, known: Known) -> Which:
    if suffix == ".toml":
        found = {known.questions[each] for each in _ANSWER.findall(text) if each in known.questions}
        nothing = "it has answers to no quiz of the course."
    else:
        headings = (_HEADING if suffix == SUFFIX else _HEADING_IN_PYTHON).findall(text)
        said = (heading.rstrip().casefold() for heading in headings)
        found = {known.headings[each] for each in said if each in known.headings}
        found |= {known.functions[each] for each in _FUNCTION.findall(text) if each in known.functions}
        nothing = _(
            "which exercise it is can't be told: not from its path (<lesson>/<exercise>.py), not from its name, and "
            "it has neither the heading nor the function of one."
        )
    if len(found) > 1:
        return Which(why=_("what is in it belongs to {listed}.", listed=_listed(found)))
    return Which(tuple(found), "" if found else nothing)


def _listed(exercises: set[str] | Mapping[str, object]) -> str:
    return _(" and ").join([*sorted(exercises)][:3])


def _text(file: Path, suffix: str) -> str:
    data = _read(file)
    if suffix == SUFFIX:
        try:
            return "\n".join(_cells(data, file.name))
        except NotebookUnreadable:
            return ""
    return data.decode("utf-8-sig", "replace")


def _cells(data: bytes, name: str) -> Iterator[str]:
    return (cell.source for cell in read_notebook(data, name).cells if cell.kind != "raw")


def _read(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(max_bytes(file) + 1)
