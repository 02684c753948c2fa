"""Finds whose each file is and what for; what can't be told is listed with the reason, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from grader.batch.records import Attempt, Found, NotAssigned, Student
from grader.errors import SubmissionNotFound
from grader.feedback import printable
from grader.submissions.archives import ZIP, Limits, Opener
from grader.submissions.hand_in import HAND_IN, HandIn
from grader.submissions.handed import Handed, Listing, list_all
from grader.submissions.known import Known, Which, by_name, is_lesson, this_course, which, without_copy_number
from grader.submissions.layouts import (
    GRADESCOPE_LIST,
    MAX_LIST_BYTES,
    NBGRADER_TIME,
    ListUnreadable,
    Place,
    Who,
    is_of_a_system,
    place_of,
    read_gradescope_list,
    time_of,
)
from grader.submissions.private import private_folder
from grader.submissions.roster import Roster
from lab.language import _

# Folders that say nothing of whose it is.
_WRAPPERS = re.compile(
    r"(?:all[ _-]?)?submi(?:ssion|tted|t)s?|hand[ _-]?ins?|abgaben?|consegne?|rendus?|workspace|exercises?|src|code|"
    r"profile[ _-]first|assignment_\d+_export|downloads?|class|course",
    re.IGNORECASE,
)
_ATTEMPT = re.compile(r"(?:attempt|versuch|try|tentativo|tentative|submission)[ _-]*(\d+)", re.IGNORECASE)
_WORDS = re.compile(r"(?<![^\W_])(?:hand[ _-]?in|submission|profile[ _-]first|abgabe|consegna|rendu)(?![^\W_])", re.I)
SERVER_DATES_S = 600  # a server that dates all files with the moment of the download does it within minutes


@dataclass(frozen=True)
class _Assigned:
    """A file that is somebody's for something."""

    students: tuple[Student, ...]
    which: Which
    handed: Handed
    place: Place
    attempt: int


class _NotTold(Exception):
    """Why it can't be told whose a file is."""


def find(
    path: Path,
    roster: Roster | None = None,
    *,
    into: Path | None = None,
    limits: Limits | None = None,
    known: Known | None = None,
) -> Found:
    """Everything that was handed in at or below this path.

    Archives are opened into the folder `into`, without one into a private folder that goes with this process.
    Raises SubmissionNotFound where there is nothing at the path.
    """
    if not path.exists():
        raise SubmissionNotFound(
            _("There is no {path}. Give the folder or the archive with the submissions.", path=path)
        )
    path = path.absolute()
    listing = list_all(path, Opener(into or private_folder(), limits))
    search = _Search(path, roster, known or this_course(), listing)
    assigned, refused = [], list(listing.refused)
    for handed in listing.handed:
        try:
            assigned.append(search.assign(handed))
        except _NotTold as why:
            refused.append(NotAssigned(handed.shown, str(why)))
        except OSError as error:
            refused.append(NotAssigned(handed.shown, _("it can't be read: {reason}.", reason=error.strerror)))
    refused += search.unread
    students = list(roster.students) if roster is not None else _named_students(assigned)
    attempts = _attempts(assigned, [student.id for student in students])
    there = {attempt.student for attempt in attempts}
    return Found(
        students=students,
        attempts=attempts,
        not_assigned=sorted(refused, key=lambda each: each.shown),
        missing=[student.id for student in students if student.id not in there],
    )


def find_of_one(
    path: Path, student: Student, *, into: Path, limits: Limits | None = None, known: Known | None = None
) -> Found:
    """Everything at or below the path as one student's, whatever its folders are called."""
    listing = list_all(path.absolute(), Opener(into, limits))
    assigned, refused = [], list(listing.refused)
    for handed in listing.handed:
        found = which(handed.parts, handed.file, known or this_course())
        if found.exercises:
            assigned.append(_Assigned((student,), found, handed, Place((), handed.parts), found.order))
        else:
            refused.append(NotAssigned(handed.shown, found.why))
    attempts = _attempts(assigned, [student.id])
    return Found([student], attempts, sorted(refused, key=lambda each: each.shown), [] if attempts else [student.id])


class _Search:
    """What is known of all files together while each is assigned."""

    def __init__(self, path: Path, roster: Roster | None, known: Known, listing: Listing) -> None:
        self.path, self.roster, self.known = path, roster, known
        self.unread: list[NotAssigned] = []
        every = [each.parts for each in listing.handed]
        self.base = self._wrappers([*every, *(each.parts for each in listing.read if each.parts[-1] != HAND_IN)])
        wrappers = {_stem(part) for parts in every[:1] for part in parts[: self.base]}
        self.nbgrader = "submitted" in {_stem(path.name), *wrappers}
        lists: dict[tuple[str, ...], Mapping[str, Place]] = {}
        self.times: dict[tuple[str, ...], float] = {}
        self.claims: dict[tuple[str, ...], Who] = {}
        for each in listing.read:
            folder, name = each.parts[:-1], each.parts[-1]
            try:
                if name == GRADESCOPE_LIST and len(folder) == self.base:
                    lists[()] = read_gradescope_list(_content(each))
                elif name == NBGRADER_TIME and self.nbgrader and len(folder) == self.base + 2:
                    # Only where nbgrader puts it: elsewhere, a student could set back the clock.
                    self._note_time(folder, _content(each))
                elif name == HAND_IN:
                    self.claims[folder] = _claim(_content(each))
            except ListUnreadable as error:
                self.unread.append(NotAssigned(each.shown, str(error)))
        self.lists = lists
        below = [parts[self.base :] for parts in every]
        self.alone = not any(self._candidates(parts) or place_of(parts, lists) for parts in below if parts)

    def _note_time(self, folder: tuple[str, ...], data: bytes) -> None:
        if (time_s := time_of(data.decode("utf-8", "replace").strip())) is not None:
            self.times[folder] = time_s

    def _wrappers(self, every: list[tuple[str, ...]]) -> int:
        """How many of the outermost folders hold all of the class and say nothing of whose anything is."""
        base = 0
        while every and all(len(parts) > base + 1 for parts in every):
            outermost = {parts[base] for parts in every}
            name = next(iter(outermost))
            if len(outermost) > 1 or is_of_a_system(name) or is_lesson(name, self.known) or self._on_roster(name):
                break
            owners = [self._candidates(parts[base + 1 :])[:1] for parts in every]
            told = all(owners) and len({owner[0] for owner in owners}) > 1
            below = {parts[base + 1] for parts in every} - {GRADESCOPE_LIST}
            if not (
                told
                or _WRAPPERS.fullmatch(_stem(name))
                or all(is_of_a_system(each) or _WRAPPERS.fullmatch(each) for each in below)
            ):
                break
            base += 1
        return base

    def _on_roster(self, name: str) -> bool:
        return self.roster is not None and bool(self._called(name, self.roster)[0])

    def _candidates(self, parts: tuple[str, ...]) -> list[str]:
        """What may name a student, the outermost first."""
        if not parts:
            return []
        folders = [
            name
            for name in map(_stem, parts[:-1])
            if not (_WRAPPERS.fullmatch(name) or _ATTEMPT.fullmatch(name) or is_lesson(name, self.known))
        ]
        rest = self._named(parts[-1])
        return [*folders, *([rest] if rest else [])]

    def _named(self, name: str) -> str:
        """What is left of a file's own name, without that of an exercise."""
        found = by_name(Path(name).stem, self.known)
        return found.rest if found.exercises else ""

    def assign(self, handed: Handed) -> _Assigned:
        """Whose the file is and what for. Raises _NotTold."""
        parts = handed.parts[self.base :]
        place = place_of(parts, self.lists)
        if place is not None:
            students = tuple(self._of_system(who) for who in place.who)
            if not students:
                raise _NotTold(_("{list} names nobody who handed it in.", list=GRADESCOPE_LIST))
            found = which(place.rest, handed.file, self.known)
        else:
            place = Place((), parts)
            found = which(parts, handed.file, self.known)
            students = (self._generic(handed, parts, found),)
        if not found.exercises:
            raise _NotTold(found.why)
        folders = (_ATTEMPT.fullmatch(_stem(part)) for part in reversed(parts[:-1]))
        attempt = next((int(each[1]) for each in folders if each and len(each[1]) < 5), 0)
        copies = (without_copy_number(_stem(part))[1] for part in parts)
        return _Assigned(students, found, handed, self._timed(place, handed), attempt or found.order or max(copies))

    def _timed(self, place: Place, handed: Handed) -> Place:
        folders = (handed.parts[:i] for i in range(len(handed.parts) - 1, 0, -1))
        noted = next((self.times[folder] for folder in folders if folder in self.times), None)
        return replace(place, handed_in_at_s=noted) if place.handed_in_at_s is None else place

    def _of_system(self, who: Who) -> Student:
        if self.roster is None:
            return Student(who.id, who.name, who.email, who.lms_id)
        roster = self.roster
        by_number = roster.by_lms_id(who.lms_id) if who.lms_id else []
        # Canvas's number may be the only id that the roster has; Moodle's is one of this assignment alone.
        looked_up = [who.email, "" if who.learning_system == "Moodle" else who.id, who.name]
        if who.learning_system == "Moodle":
            looked_up += [who.name[i + 1 :] for i, c in enumerate(who.name) if c == "-"]  # "Group 1-Anna Muster"
        by_name = next((ids for each in looked_up if each and (ids := roster.called(each))), [])
        if by_number and by_name and not set(by_number) & set(by_name):
            raise _NotTold(
                _(
                    "{system}'s number {number} is {one} on the roster, the name {name} is {other}. Give the roster "
                    "of this course.",
                    system=who.learning_system,
                    number=who.lms_id,
                    one=by_number[0],
                    name=who.name,
                    other=by_name[0],
                )
            )
        return self._one(by_number or by_name, who.name or who.email or who.id)

    def _generic(self, handed: Handed, parts: tuple[str, ...], found: Which) -> Student:
        candidates = self._candidates(parts)
        if not candidates and found.rest:
            candidates = [found.rest]
        claim = next((self.claims[f] for i in range(len(handed.parts)) if (f := handed.parts[:i]) in self.claims), None)
        if self.roster is not None:
            for candidate in [*candidates, *([self.path.name] if self.alone and self.path.is_dir() else [])]:
                ids, _form = self._called(candidate, self.roster)
                if ids:
                    return self._one(ids, candidate)
            if claim is not None and (ids := self.roster.called(claim.id)):
                return self._one(ids, claim.id)
            if candidates:
                raise _NotTold(_("{name}: nobody on the roster is called so.", name=_quoted(candidates)))
            raise _NotTold(_("neither its folder nor its name says whose it is."))
        if candidates:
            return Student(_cleaned(candidates[0]) or candidates[0])
        if claim is not None and claim.id:
            return Student(claim.id, claim.name)
        if self.alone and self.path.is_dir() and not _WRAPPERS.fullmatch(self.path.name):
            return Student(self.path.name)
        raise _NotTold(_("neither its folder nor its name says whose it is."))

    def _called(self, text: str, roster: Roster) -> tuple[list[str], str]:
        """Whom a folder's or file's name means, as it is or without the words that people add."""
        for form in dict.fromkeys((text, _stem(text), without_copy_number(_stem(text))[0], _cleaned(text))):
            if form and (ids := roster.called(form)):
                return ids, form
        return [], ""

    def _one(self, ids: Iterable[str], text: str) -> Student:
        assert self.roster is not None
        found = list(ids)
        if not found:
            raise _NotTold(_("nobody on the roster is called {name}.", name=text))
        if len(found) > 1:
            raise _NotTold(_("{name} may be any of {listed} on the roster.", name=text, listed=", ".join(found[:5])))
        return self.roster.student(found[0])


def _stem(name: str) -> str:
    return name[: -len(ZIP)] if name.casefold().endswith(ZIP) else name


def _cleaned(name: str) -> str:
    """A name without the number of a copy, and words that say that it is a hand-in."""
    return _WORDS.sub(" ", without_copy_number(_stem(name))[0]).strip(" _.-")


def _quoted(candidates: list[str]) -> str:
    return _(" or ").join(f"“{each}”" for each in dict.fromkeys(candidates[:3]))


def _content(handed: Handed) -> bytes:
    try:
        with handed.file.open("rb") as file:
            data = file.read(MAX_LIST_BYTES + 1)
    except OSError as error:
        raise ListUnreadable(_("it can't be read: {reason}.", reason=error.strerror)) from error
    if len(data) > MAX_LIST_BYTES:
        raise ListUnreadable(_("it is larger than {most_mb:g} MB.", most_mb=MAX_LIST_BYTES / 1e6))
    return data


def _claim(data: bytes) -> Who:
    """Who says in `profile-first submit` that they hand in: it counts where nothing else tells."""
    try:
        said = msgspec.json.decode(data, type=HandIn)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ListUnreadable(_("it isn't as `profile-first submit` writes it.")) from error
    return Who(printable(said.student)[:200].strip())


def _named_students(assigned: list[_Assigned]) -> list[Student]:
    """Without a roster, everybody of whom there is a file."""
    named: dict[str, Student] = {}
    for each in assigned:
        for student in each.students:
            named.setdefault(student.id, student)
    return sorted(named.values())


def _dates(assigned: list[_Assigned]) -> list[float | None]:
    """When each file was handed in, where that is known."""
    said = [each.place.handed_in_at_s for each in assigned]
    dated = [
        None if each.place.dates_mean_nothing else _first(each.handed.archive_date_s, each.handed.disk_date_s)
        for each in assigned
    ]
    left = [date for date, sure in zip(dated, said, strict=True) if date is not None and sure is None]
    people = {s.id for each, sure in zip(assigned, said, strict=True) if sure is None for s in each.students}
    if len(people) > 2 and left and max(left) - min(left) <= SERVER_DATES_S:
        dated = [None] * len(assigned)  # a class doesn't hand in all at once: it is when the files were written here
    return [_first(sure, date) for sure, date in zip(said, dated, strict=True)]


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _attempts(assigned: list[_Assigned], order: list[str]) -> list[Attempt]:
    """The attempts in the order of the students; those of one exercise from the oldest to the newest."""
    grouped: dict[tuple[str, str], list[tuple[_Assigned, float | None]]] = {}
    for each, date in zip(assigned, _dates(assigned), strict=True):
        for student in each.students:
            for exercise in each.which.exercises:
                grouped.setdefault((student.id, exercise), []).append((each, date))
    rank = {student: number for number, student in enumerate(order)}
    attempts = []
    for (student_id, exercise), group in sorted(grouped.items(), key=lambda item: (rank[item[0][0]], item[0][1])):
        group.sort(key=lambda pair: (pair[1] or 0.0, pair[0].place.order, pair[0].attempt, pair[0].handed.shown))
        attempts += [
            Attempt(
                student=student_id,
                exercise=exercise,
                file=str(each.handed.file),
                shown=each.handed.shown,
                handed_in_at_s=date,
                number=number,
                marked_late=each.place.marked_late,
            )
            for number, (each, date) in enumerate(group, 1)
        ]
    return attempts
