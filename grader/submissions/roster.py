"""Reads the list of a class, and finds the student whom a text names: exactly one, or none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.batch.records import Student
from grader.submissions.table import Line, TableUnreadable, headings, read_table
from lab.language import _

# As Moodle (English, German, French, Italian), Canvas, Gradescope, GitHub Classroom and nbgrader call them.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": (
        *("id", "student id", "student_id", "student number", "sid", "id number", "identifier"),
        *("ID-Nummer", "Matrikelnummer", "Numéro d'identification", "Numéro étudiant", "Codice identificativo"),
        *("Matricola", "Codice ID", "user id"),
    ),
    "sis": ("sis user id",),
    "sis login": ("sis login id",),
    "login": (
        *("login", "username", "user name", "login id", "github username", "github_username"),
        *("Anmeldename", "Nom d'utilisateur", "account"),
    ),
    "lms": ("lms id", "lms_user_id", "lms_id", "participant number", "participant id", "canvas id", "moodle id"),
    "name": (
        *("name", "full name", "student", "student name", "Vollständiger Name", "Nom complet"),
        *("Nome completo", "display name"),
    ),
    "first": ("first name", "first", "given name", "Vorname", "Prénom", "Nome"),
    "last": ("last name", "last", "surname", "family name", "Nachname", "Nom de famille", "Nom", "Cognome"),
    "email": (
        *("email", "e-mail", "email address", "mail", "E-Mail-Adresse", "E-Mail", "Adresse de courriel"),
        *("Adresse mail", "Indirizzo email", "Indirizzo e-mail"),
    ),
    "section": ("section", "sections", "group", "groups", "Gruppe", "Gruppen", "Groupe", "Gruppo", "class"),
}
_PARTICIPANT = re.compile(
    r"(?:participant|teilnehmer/?-?(?:in)?|participante?|partecipante)\D{0,3}(\d+)", re.IGNORECASE
)


class RosterUnreadable(TableUnreadable):
    """The roster has no columns that say who is on it, or says it twice; the message names the lines."""


@dataclass(frozen=True)
class Roster:
    """The students of a class in its order, and everything that each of them may be called."""

    students: tuple[Student, ...]
    _sure: dict[str, set[str]] = field(default_factory=dict)
    """Ids by what is told from all others: ids, logins, addresses."""
    _named: dict[str, set[str]] = field(default_factory=dict)
    """Ids by names, in every order."""
    _near: dict[str, set[str]] = field(default_factory=dict)
    """Ids by what most often is right: the part of an address before the @, umlauts written as two letters."""
    _lms: dict[str, set[str]] = field(default_factory=dict)
    _by_id: dict[str, Student] = field(default_factory=dict)

    def by_lms_id(self, lms_id: str) -> list[str]:
        return sorted(self._lms.get(lms_id, ()))

    def called(self, text: str) -> list[str]:
        """The ids of all whom the text may mean, from the surest kind of name that it is one of."""
        for index, keys in (
            (self._sure, [_exact(text)]),
            (self._named, [_letters(text)]),
            (self._near, [_exact(text), _letters(text)]),
        ):
            found = {each for key in keys if key for each in index.get(key, ())}
            if found:
                return sorted(found)
        return []

    def student(self, student_id: str) -> Student:
        return self._by_id[student_id]


def read_roster(path: Path) -> Roster:
    """The roster in this CSV file. Raises RosterUnreadable, or TableUnreadable."""
    columns, lines = read_table(path, COLUMNS)
    if not {"id", "sis", "sis login", "login", "lms", "name", "email", "last"} & set(columns):
        raise RosterUnreadable(
            _(
                "{path} has no column that says who is on it. Its first line needs at least one of id, name, email "
                "(or what Moodle, Canvas and Gradescope call them); it is: {headings}",
                path=path,
                headings=headings(path),
            )
        )
    canvas = bool({"sis", "sis login"} & set(columns))
    rows = [(line, _identity(line, canvas)) for line in lines if not _is_no_student(line)]
    return _roster(path, rows)


def roster_of(students: Iterable[Student]) -> Roster:
    """A roster of students who are known already."""
    roster = Roster(tuple(students))
    for student in roster.students:
        _add(roster, student, "")
    return roster


def _roster(path: Path, rows: list[tuple[Line, tuple[Student, str]]]) -> Roster:
    roster = Roster(tuple(student for _line, (student, _login) in rows))
    seen: dict[tuple[str, str], int] = {}
    twice = []
    for line, (student, login) in rows:
        if not student.id:
            raise RosterUnreadable(
                _(
                    "{path}, line {line}: nothing says who this is. Give it an id or a name.",
                    path=path,
                    line=line.number,
                )
            )
        keys = {"id": student.id, "email": student.email, "lms id": student.lms_id, "login": login}
        for kind, text in keys.items():
            if text and (first := seen.setdefault((kind, _exact(text)), line.number)) != line.number:
                twice.append(
                    _(
                        "line {number} has the same {kind} as line {first} ({value})",
                        number=line.number,
                        kind=kind,
                        first=first,
                        value=text,
                    )
                )
                break
        _add(roster, student, login)
    if twice:
        raise RosterUnreadable(
            _("{path} names somebody twice: {listed}. Keep one of each.", path=path, listed=_("; ").join(twice[:10]))
        )
    if not rows:
        raise RosterUnreadable(_("{path} has no students below its first line.", path=path))
    return roster


def _identity(line: Line, canvas: bool) -> tuple[Student, str]:
    name = line["name"] or f"{line['first']} {line['last']}".strip()
    login = line["sis login"] or line["login"]
    own, lms_id = line["id"], line["lms"]
    if participant := _PARTICIPANT.search(own):  # the column "Identifier" of Moodle's grading worksheet
        own, lms_id = "", participant[1]
    if canvas:  # whose "ID" is its own number
        own, lms_id = line["sis"], own
    # What tells people apart, from what they would call their id to what is always there.
    student_id = own or login or line["email"] or lms_id or name
    return Student(
        student_id, name, line["email"], lms_id, line["section"], "" if login == student_id else login
    ), login


def _is_no_student(line: Line) -> bool:
    """Canvas's line of the points that are possible, and its test student."""
    return plain_name(line["name"]) in ("points possible", "student test", "test student") and not line["email"]


def _add(roster: Roster, student: Student, login: str) -> None:
    roster._by_id[student.id] = student
    for text in (student.id, student.email, login, student.lms_id):
        if text:
            roster._sure.setdefault(_exact(text), set()).add(student.id)
    if student.lms_id:
        roster._lms.setdefault(student.lms_id, set()).add(student.id)
    for name in _orders(student.name):
        roster._named.setdefault(_letters(name), set()).add(student.id)
        roster._near.setdefault(_letters(_two_letters(name)), set()).add(student.id)
    if "@" in student.email:
        roster._near.setdefault(_exact(student.email.partition("@")[0]), set()).add(student.id)


def _orders(name: str) -> Iterator[str]:
    """A name with the last name first or last: which of its words those are isn't always known."""
    last, comma, first = name.partition(",")
    words = f"{first} {last}".split() if comma else name.split()
    for cut in range(len(words)):
        yield " ".join([*words[cut:], *words[:cut]])


_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ß": "ss", "\u0131": "i", "þ": "th", "ð": "d"}
)
_TWO_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})


def plain_name(name: str) -> str:
    """A name's words without capital letters and accents, e.g. `jurgen o neil` for `Jürgen O'Neil`."""
    decomposed = unicodedata.normalize("NFKD", name.casefold().translate(_STROKES))
    kept = "".join(c if c.isalnum() else " " for c in decomposed if not unicodedata.combining(c))
    return " ".join(kept.split())


def _letters(name: str) -> str:
    """Without the spaces too: Canvas's file names have none, and people write - and _ for them."""
    return plain_name(name).replace(" ", "")


def _two_letters(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold()).translate(_TWO_LETTERS)


def _exact(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().strip()
