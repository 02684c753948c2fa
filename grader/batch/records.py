"""What the parts of grading a class hand to one another, and what is kept of it."""

from __future__ import annotations

from typing import Literal

import msgspec

from grader.verdict import Verdict

SCHEMA: Literal[1] = 1


class Student(msgspec.Struct, frozen=True, order=True):
    """Somebody who hands in, as the roster or the submission itself names them."""

    id: str
    """What tells them from all others: the roster's id, or the name of their folder or file."""
    name: str = ""
    email: str = ""
    lms_id: str = ""
    """The number that a learning management system gives them, where there is one."""
    section: str = ""
    login: str = ""
    """What they log in by, where the roster says it and it isn't the id."""


class Attempt(msgspec.Struct, frozen=True):
    """One file that a student handed in for one exercise or quiz."""

    student: str
    """The student's id."""
    exercise: str
    """`<lesson>/<exercise>`, or `<lesson>/quiz`."""
    file: str
    """Where the grader finds it: an absolute path. Empty in results.json for what it opened from an archive."""
    shown: str
    """Where the instructor finds it: the path below what was given, through archives too."""
    handed_in_at_s: float | None = None
    """Seconds since 1970, as far as the archive or the file system tells."""
    number: int = 1
    """Of several attempts at one exercise: 1 is the oldest."""
    marked_late: bool = False
    """Whether a learning management system says that it came late, as Canvas does, which doesn't say when."""


class NotAssigned(msgspec.Struct, frozen=True):
    """A file that belongs to no student or no exercise, and why."""

    shown: str
    why: str


class Found(msgspec.Struct, frozen=True):
    """Everything that was handed in, in the order of the roster."""

    students: list[Student]
    attempts: list[Attempt]
    """All of them; those of one exercise by one student from the oldest to the newest."""
    not_assigned: list[NotAssigned]
    missing: list[str]
    """Ids of students on the roster of whom there is nothing."""


class Result(msgspec.Struct, frozen=True):
    """What came of one attempt, with all that is needed to repeat it."""

    attempt: Attempt
    source_sha256: str
    seed: int
    course_version: str
    isolation: list[str]
    """The layers that kept it apart, e.g. bubblewrap, Landlock, seccomp; empty with --unsafe."""
    graded_at_s: float
    duration_s: float
    verdict: Verdict | None
    """None where the grader failed, not the submission."""
    trouble: str | None = None
    """Why there is no verdict, or why the verdict should be looked at: a fault of the machine or of the course."""
    look: list[str] = []
    """What an instructor should look at in the source, e.g. that it reaches into the grader."""


class Score(msgspec.Struct, frozen=True):
    """What a student gets for one exercise."""

    exercise: str
    points: float
    max_points: int
    status: Literal["passed", "failed", "error", "timeout", "crashed", "unanswered", "missing", "ungraded"]
    attempts: int
    counted: Result | None
    """The attempt that counts: the best one after lateness."""
    late_days: float = 0.0
    before_lateness: float = 0.0
    overridden: str | None = None
    """The reason that the instructor gave for setting the points by hand."""


class Row(msgspec.Struct, frozen=True):
    """A student's line in the gradebook."""

    student: Student
    scores: list[Score]
    points: float
    max_points: int


class Gradebook(msgspec.Struct, frozen=True):
    """The whole class."""

    title: str
    exercises: list[str]
    rows: list[Row]
    results: list[Result]
    not_assigned: list[NotAssigned]
    graded_at_s: float
    schema: Literal[1] = SCHEMA
