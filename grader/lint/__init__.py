"""Finds what is missing or inconsistent anywhere in the course, and says what to do about it.

Each module has the rules for one part of an exercise. The lessons belong to the course, which the grader doesn't know:
their files are read here as data, like all others.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.errors import CheckFault
from grader.lint import checks, files, glossary, languages, lessons, quizzes, submissions, tasks, typography
from grader.lint.places import THIS_COURSE, Course
from grader.mistakes import read_misconceptions

__all__ = ["THIS_COURSE", "Course", "lint"]


def lint(course: Course = THIS_COURSE) -> list[str]:
    """Every complaint that can be had without running anything, each with its file and what to do."""
    return list(_complaints(course))


def _complaints(course: Course) -> Iterator[str]:
    try:
        known = read_misconceptions(course.misconceptions)
    except CheckFault as fault:
        yield f"{course.name(course.misconceptions)}: {fault}. Correct it."
        return
    yield from files.complaints(course)
    yield from checks.complaints(course, known)
    yield from quizzes.complaints(course)
    yield from lessons.complaints(course)
    yield from tasks.complaints(course)
    yield from languages.complaints(course)
    yield from glossary.complaints(course)
    yield from submissions.complaints(course, known)
    yield from typography.complaints(course)
