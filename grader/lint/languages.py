"""Each language has all that English has: the same files, code, choices, right answers, mistakes and blanks to fill."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from grader.errors import CheckFault
from grader.lesson_files import outside_code, split
from grader.lint.files import LANGUAGES
from grader.lint.places import Course
from grader.mistakes import Misconception, read_misconceptions
from grader.quiz import read_answers, read_questions
from lab.language import ENGLISH

_CHOICE = re.compile(r"^- \[([ x])\] ")
_BLANK = re.compile(r"\{[^{}]*\}")


def others(course: Course) -> list[str]:
    """The languages beside English that the course is told in."""
    return [language for language in LANGUAGES if language != ENGLISH and any(course.lessons.glob(f"*/{language}.md"))]


def complaints(course: Course) -> Iterator[str]:
    for language in others(course):
        yield from _files(course, language)
        for english in sorted(course.lessons.glob(f"*/{ENGLISH}.md")):
            yield from _lesson(course, english, language)
        for lesson in course.quiz_lessons():
            yield from _quiz(course, lesson, language)
        yield from _mistakes(course, language)


def _files(course: Course, language: str) -> Iterator[str]:
    """The files that English has and this language lacks."""
    places = (
        (course.lessons, "*/{}.md"),
        (course.glossary, "{}.md"),
        (course.exercises, "*/quiz.{}.toml"),
        (course.solutions, "*/quiz.{}.toml"),
    )
    for folder, pattern in places:
        for english in sorted(folder.glob(pattern.format(ENGLISH))):
            told = _told(english, language)
            if not told.is_file():
                yield f"{course.name(told)}: is missing. Translate {course.name(english)}."


def _told(english: Path, language: str) -> Path:
    """The file of another language beside an English one."""
    return english.with_name(re.sub(rf"\b{ENGLISH}\b", language, english.name))


def _lesson(course: Course, english: Path, language: str) -> Iterator[str]:
    told = _told(english, language)
    try:
        ours = {section.name: section for section in split(english.read_text(encoding="utf-8")).sections}
        theirs = {section.name: section for section in split(told.read_text(encoding="utf-8")).sections}
    except (OSError, UnicodeDecodeError):  # the rules about lessons name it
        return
    place = course.name(told)
    for name in ours.keys() & theirs.keys():
        here = f"{place}: {{#{name}}}"
        if _code(ours[name].body) != _code(theirs[name].body):
            yield f"{here} has other blocks of code than {english.name}. Copy them from there, comments too."
        if _marks(ours[name].body) != _marks(theirs[name].body):
            yield f"{here} predicts with other choices than {english.name}. Give as many, the right one in its place."
        hints = [len(section.split_hints()[1]) for section in (ours[name], theirs[name])]
        if hints[0] != hints[1]:
            yield f"{here} has {hints[1]} hints and {english.name} has {hints[0]}. Translate each."


def _code(text: str) -> list[str]:
    """The lines of all blocks of code. Of a drawing only their number: it has words, as a prediction has."""
    found: list[str] = []
    kind: str | None = None
    for line, is_prose in outside_code(text):
        if is_prose:
            continue
        if line.startswith("```"):
            kind = line.removeprefix("```").strip() if kind is None else None
            found += [line] if kind != "predict" else []
        elif kind != "predict":
            found.append("" if kind == "text" else line)
    return found


def _marks(text: str) -> list[str]:
    return [found[1] for line, is_prose in outside_code(text) if not is_prose and (found := _CHOICE.match(line))]


def _quiz(course: Course, lesson: str, language: str) -> Iterator[str]:
    place = f"exercises/{lesson}/quiz.{language}.toml"
    try:
        ours = read_questions(lesson, ENGLISH, course.exercises)
        theirs = read_questions(lesson, language, course.exercises)
    except CheckFault as fault:
        yield from _unreadable(place, fault, course.root / place)
        return
    said = {question.id: question for question in theirs}
    if [question.id for question in ours] != [question.id for question in theirs]:
        asked = ", ".join(question.id for question in ours)
        yield f"{place}: asks other questions than in English, or in another order. These are asked: {asked}."
    for question in ours:
        told = said.get(question.id)
        choices = [choice.id for choice in question.choices]
        if told is not None and [choice.id for choice in told.choices] != choices:
            listed = ", ".join(choices)
            yield f"{place}: question {question.id!r} has other choices than in English: {listed}. Use these."
    yield from _answers(course, lesson, language)


def _answers(course: Course, lesson: str, language: str) -> Iterator[str]:
    place = f"solutions/{lesson}/quiz.{language}.toml"
    try:
        ours = read_answers(lesson, ENGLISH, course.solutions)
        theirs = read_answers(lesson, language, course.solutions)
    except CheckFault as fault:
        yield from _unreadable(place, fault, course.root / place)
        return
    for name in ours.keys() - theirs.keys():
        yield f"{place}: has no solution for {name!r}. Add [{name}]."
    for name in theirs.keys() - ours.keys():
        yield f"{place}: there is a solution for {name!r}, which English doesn't have. Drop it."
    for name in ours.keys() & theirs.keys():
        mine, said = ours[name], theirs[name]
        if (mine.right, mine.points) != (said.right, said.points):
            yield f"{place}: {name!r} has another right answer or other points than in English. Copy them from there."
        for choice in mine.why.keys() - {key for key, why in said.why.items() if why.strip()}:
            yield f"{place}: {name!r} doesn't say why {choice!r} is right or wrong. Add it to its why."


def _unreadable(place: str, fault: CheckFault, file: Path) -> Iterator[str]:
    if file.is_file():  # else its absence was told
        yield f"{place}: {fault}. Correct it."


def _mistakes(course: Course, language: str) -> Iterator[str]:
    file = course.misconceptions.with_suffix(f".{language}.toml")
    place = course.name(file)
    if not file.is_file():
        yield f"{place}: is missing. Translate {course.name(course.misconceptions)}."
        return
    try:
        ours, theirs = read_misconceptions(course.misconceptions), read_misconceptions(file)
    except CheckFault as fault:
        yield f"{place}: {fault}. Correct it."
        return
    yield from _same_mistakes(place, ours, theirs)


def _same_mistakes(place: str, ours: Mapping[str, Misconception], theirs: Mapping[str, Misconception]) -> Iterator[str]:
    for name in ours.keys() - theirs.keys():
        yield f"{place}: lacks [{name}]. Translate it."
    for name in theirs.keys() - ours.keys():
        yield f"{place}: [{name}] is no mistake of misconceptions.toml. Rename or drop it."
    for name in ours.keys() & theirs.keys():
        blanks, said = (set(_BLANK.findall(each[name].says)) for each in (ours, theirs))
        if blanks != said:
            listed = ", ".join(sorted(blanks)) or "none"
            yield f"{place}: [{name}] fills in other blanks than in English: {listed}. Use these, as they are."
        if not theirs[name].title:
            yield f"{place}: [{name}] has no title. Name the mistake; in English its id does."
