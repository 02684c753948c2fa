"""class.html: for the instructor, how the class did, and what to look at first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from grader.batch.records import Gradebook
from grader.mistakes import card_of
from grader.reports import class_figures as figures
from grader.reports.csv_cells import number
from grader.reports.pages import html_page
from grader.reports.scores import is_quiz, moment
from grader.reports.similarity import Compared, compare
from grader.reports.taught import place_of
from grader.reports.troubles import many_timeouts, streaks
from grader.reports.words import Words

MOST_NAMES = 30


@dataclass(frozen=True)
class Who:
    """A student, and where their feedback lies from here."""

    id: str
    name: str
    link: str


@dataclass(frozen=True)
class Bar:
    """A bar of the distribution, in the units of the drawing."""

    x: float
    y: float
    width: float
    height: float
    count: int
    low: int
    high: int


@dataclass(frozen=True)
class Found:
    """Something to look at: whose, in which file, what."""

    who: Who
    exercise: str
    file: str
    what: str


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 380, 200, 30, 366, 18, 36


def class_html(gradebook: Gradebook, words: Words, names: Mapping[str, str]) -> bytes:
    """`names` are the folders of the students' feedback."""
    who = {
        row.student.id: Who(
            row.student.id,
            row.student.name or row.student.id,
            f"students/{quote(names[row.student.id])}/feedback.html",
        )
        for row in gradebook.rows
    }
    came = figures.handed_in(gradebook)
    trouble = _troubles(gradebook, who)
    read = _to_read(gradebook, who)
    missing = [who[row.student.id] for row in gradebook.rows if row not in came]
    machine = _machine(gradebook, words)
    return html_page(
        "class.html",
        script="sort.js",
        words=words,
        gradebook=gradebook,
        number=number,
        graded=moment(gradebook.graded_at_s).strftime("%Y-%m-%d %H:%M"),
        versions=", ".join(sorted({result.course_version for result in gradebook.results})) or "-",
        came=came,
        mean=figures.mean_percent(gradebook),
        median=figures.median_percent(gradebook),
        trouble=trouble,
        machine=machine,
        read=read,
        missing=missing,
        to_look_at=len(trouble) + len(machine) + len(read) + len(gradebook.not_assigned),
        bars=bars(figures.distribution(gradebook)),
        chart={"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT, "base": HEIGHT - BOTTOM},
        exercises=figures.exercises(gradebook),
        checks=figures.checks(gradebook),
        mistakes=[(each, _taught(each.id, words)) for each in figures.mistakes(gradebook)],
        same=_same(compare(gradebook), who),
        columns=[(_column(exercise), "upright") for exercise in gradebook.exercises],
        students=[(row, who[row.student.id], figures.percent_of(row)) for row in gradebook.rows],
    )


def _column(exercise: str) -> str:
    """An exercise by its name alone; a quiz, which has none, by its lesson."""
    lesson, _, name = exercise.partition("/")
    return f"{lesson}/{name}" if is_quiz(exercise) else name


def bars(counts: list[int]) -> list[Bar]:
    """The distribution as a drawing that is still readable on a small screen."""
    step = (RIGHT - LEFT) / len(counts)
    room = HEIGHT - TOP - BOTTOM
    highest = max(*counts, 1)
    found = []
    for place, count in enumerate(counts):
        height = room * count / highest
        low, high = 100 * place // len(counts), 100 * (place + 1) // len(counts)
        found.append(Bar(LEFT + place * step + 2, TOP + room - height, step - 4, height, count, low, high))
    return found


def _troubles(gradebook: Gradebook, who: Mapping[str, Who]) -> list[Found]:
    return [
        Found(_who(result.attempt.student, who), result.attempt.exercise, result.attempt.shown, result.trouble or "-")
        for result in gradebook.results
        if result.trouble is not None or result.verdict is None
    ]


def _to_read(gradebook: Gradebook, who: Mapping[str, Who]) -> list[Found]:
    return [
        Found(_who(result.attempt.student, who), result.attempt.exercise, result.attempt.shown, "; ".join(result.look))
        for result in gradebook.results
        if result.look
    ]


def _who(student: str, who: Mapping[str, Who]) -> Who:
    return who.get(student) or Who(student, student, "")


def _machine(gradebook: Gradebook, words: Words) -> list[str]:
    said = [
        words(
            "class.in_a_row",
            n=streak.runs,
            students=streak.students,
            first=moment(streak.first_at_s).strftime("%H:%M:%S"),
            last=moment(streak.last_at_s).strftime("%H:%M:%S UTC"),
        )
        for streak in streaks(gradebook)
    ]
    for each in many_timeouts(gradebook):
        said.append(words("class.timeouts", exercise=each.exercise, n=each.timed_out, of=each.students))
    return said


def _taught(mistake: str, words: Words) -> str:
    card = card_of(mistake)
    place = place_of(card, words.language) if card is not None else None
    return f"{place.lesson}. {place.title}" if place is not None else card or "-"


def _same(compared: Compared, who: Mapping[str, Who]) -> dict[str, object]:
    groups = [
        (group, [_who(each, who) for each in group.students[:MOST_NAMES]], max(len(group.students) - MOST_NAMES, 0))
        for group in compared.groups
    ]
    return {"groups": groups, "unread": compared.unread}
