"""The command `progress`: how far one is, and taking that to another machine."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.command_line import file_to_write
from lab.language import N_, _, ngettext

if TYPE_CHECKING:
    from course.catalog import Catalog, Step
    from course.progress import Progress
    from course.report import Ink
    from course.standing import Done, LessonStanding, Standing

BAR_CELLS = 12
DESCRIPTION = N_(
    "Shows how far you are: the points of each lesson, what was passed, where you stopped, and what comes next."
)
EPILOG = N_("""\
--json prints one object:
  version            1; it changes when the meaning of a field does
  points, max_points, exercises_passed, exercises, quizzes_taken,
  quizzes_without_mistakes, quizzes
  stopped_at, next   ids of steps, <lesson>/<step>, or null
  bookmarks          ids of steps
  lessons            for each: id, number, title, points, max_points,
                     steps_done, steps, spent_s (seconds), and
                     graded: for each exercise and quiz id, kind, title,
                     status (new, attempted, passed; of a quiz: new, taken,
                     passed), points, max_points, attempts, hints_shown,
                     hints, solution_seen
""")
EXPORT = N_(
    "Writes all that you did into FILE: checks and points, what you read and predicted, hints, bookmarks, time spent, "
    "your code, and your answers to quizzes. Starters that you haven't touched and backups aren't in it."
)
IMPORT = N_(
    "Merges what FILE, written by 'progress export', says into what you did here. Checks, points and all else of both "
    "are kept; of code that differs the newest stays, and the other version is put into the backups folder beside it. "
    "Importing a file twice changes nothing. Import only what you exported: its code is run when you press F5."
)


def add_command(commands: Any) -> None:
    """Add the command to the command line's."""
    from lab.command_line import Form

    command: argparse.ArgumentParser = commands.add_parser(
        "progress",
        help=_("show how far you are; export it, or import it on another machine"),
        description=_(DESCRIPTION),
        epilog=_(EPILOG),
        formatter_class=Form,
    )
    command.add_argument("--json", action="store_true", help=_("print JSON"))
    command.set_defaults(do=show, parser=command)
    parts = command.add_subparsers(title=_("taking it to another machine"), metavar=_("COMMAND"))
    part = parts.add_parser("export", help=_("write all that you did into a file"), description=_(EXPORT))
    part.add_argument("file", metavar=_("FILE"), type=file_to_write, help=_("the file to write, e.g. progress.json"))
    part.add_argument("--force", action="store_true", help=_("replace FILE, whatever it is"))
    part.set_defaults(do=export, parser=part)
    part = parts.add_parser(
        "import", help=_("merge what was done elsewhere into what was done here"), description=_(IMPORT)
    )
    part.add_argument("file", metavar=_("FILE"), type=Path, help=_("a file that 'progress export' wrote"))
    part.set_defaults(do=bring_in, parser=part)


def show(options: argparse.Namespace) -> int:
    """Show how far the learner is."""
    from course import catalog, progress, standing
    from course.report import Ink, tell_notice

    lessons = catalog.load()
    with progress.at_home() as kept:
        tell_notice(kept)
        what = standing.done(kept)
        reached = standing.standing(lessons, what)
        place = kept.place()
        at = lessons.step(f"{place.lesson}/{place.step}") if place else None
        following = standing.next_step(lessons, what, at)
        if options.json:
            print(json.dumps(_plain(kept, reached, what, at, following), indent=2, ensure_ascii=False))
            return 0
    ink = Ink(sys.stdout)
    for line in _lines(reached, lessons, at, following, ink):
        print(line)
    return 0


def _lines(reached: Standing, lessons: Catalog, at: Step | None, following: Step | None, ink: Ink) -> list[str]:
    from course.standing import in_words

    width = max(len(each.lesson.title) for each in reached.lessons)
    lines = []
    for each in reached.lessons:
        mark = ink.good("✓") if each.complete else ink.warn("◐") if each.begun else ink.quiet("○")
        bar = ink.bar(each.points, each.lesson.points, BAR_CELLS)
        steps = ngettext("{done} of {n} step", "{done} of {n} steps", len(each.lesson.steps), done=each.steps_done)
        score = f"{f'{each.points}/{each.lesson.points}':>5}"
        points = ngettext("{score} point", "{score} points", each.lesson.points, score=score)
        lines.append(f"{mark} {each.lesson.number} {each.lesson.title:<{width}}  {bar}  {points}  {ink.quiet(steps)}")
    sum_of_points = ngettext(
        "{points} of {n} point.", "{points} of {n} points.", reached.max_points, points=reached.points
    )
    lines += ["", ink.bold(sum_of_points), ink.text(f"{in_words(reached)}.")]
    if at is not None:
        lines.append(ink.text(_("You stopped at {step}.", step=_named(at, lessons))))
    if following is not None and following != at:
        lines.append(ink.text(_("Next: {step}.", step=_named(following, lessons))))
    if following is None:
        lines.append(ink.text(_("All of it is done. 'profile-first report' says what you can do now.")))
    return lines


def _named(step: Step, lessons: Catalog) -> str:
    lesson = lessons.lesson(step.lesson)
    return _("“{title}” in lesson {number}", title=step.title, number=lesson.number if lesson else "?")


def _plain(kept: Progress, reached: Standing, what: Done, at: Step | None, following: Step | None) -> dict[str, Any]:
    spent, solutions = kept.spent_s(), kept.solutions_seen()
    return {
        "version": 1,
        "points": reached.points,
        "max_points": reached.max_points,
        "exercises_passed": reached.exercises_passed,
        "exercises": reached.exercises,
        "quizzes_taken": reached.quizzes_taken,
        "quizzes_without_mistakes": reached.quizzes_without_mistakes,
        "quizzes": reached.quizzes,
        "stopped_at": at.id if at else None,
        "next": following.id if following else None,
        "bookmarks": kept.bookmarks(),
        "lessons": [_plain_lesson(each, kept, what, solutions, spent) for each in reached.lessons],
    }


def _plain_lesson(
    each: LessonStanding, kept: Progress, what: Done, solutions: dict[str, bool], spent: dict[str, float]
) -> dict[str, Any]:
    return {
        "id": each.lesson.id,
        "number": each.lesson.number,
        "title": each.lesson.title,
        "points": each.points,
        "max_points": each.lesson.points,
        "steps_done": each.steps_done,
        "steps": len(each.lesson.steps),
        "spent_s": round(spent.get(each.lesson.id, 0.0)),
        "graded": [
            {
                "id": step.id,
                "kind": step.kind,
                "title": step.title,
                "status": _status(step, what),
                "points": what.points(step),
                "max_points": step.points,
                "attempts": what.best[step.id].attempts if step.id in what.best else 0,
                "hints_shown": min(kept.hints_shown(step.id), len(step.hints)),
                "hints": len(step.hints),
                "solution_seen": step.id in solutions,
            }
            for step in each.lesson.graded
        ],
    }


def _status(step: Step, what: Done) -> str:
    best = what.best.get(step.id)
    if best is None:
        return "new"
    return "passed" if best.passed else "taken" if step.kind == "quiz" else "attempted"


def export(options: argparse.Namespace) -> int:
    """Write all that was done into one file."""
    from course import accounts, catalog, progress, transfer, workspace
    from course.report import tell_notice

    if not options.force:
        transfer.refuse_to_replace(options.file, accounts.BEGINS)
    with progress.at_home() as kept:
        tell_notice(kept)
        written = transfer.export_to(options.file, kept, workspace.at_home(), catalog.load())
    checks, files = _checks(len(written.attempts)), ngettext("{n} file", "{n} files", len(written.files))
    print(_("{name} holds {checks} and {files}.", name=options.file, checks=checks, files=files))
    print(_("On the other machine: profile-first progress import {name}", name=options.file.name))
    return 0


def bring_in(options: argparse.Namespace) -> int:
    """Merge what a file says into what was done here."""
    from course import catalog, progress, transfer, workspace
    from course.accounts import AccountsUnreadable
    from course.names import WrongUsage
    from course.report import tell_notice

    with progress.at_home() as kept:
        tell_notice(kept)
        try:
            changed = transfer.import_from(options.file, kept, workspace.at_home(), catalog.load())
        except AccountsUnreadable as error:
            raise WrongUsage(str(error)) from error
    files = ngettext("{n} file", "{n} files", len(changed.replaced))
    print(_("New here: {checks} and {files}.", checks=_checks(changed.attempts), files=files))
    for path in changed.replaced:
        print(f"  {path}")
    for path in changed.backups:
        print(_("Another version of a file is kept as {path}.", path=path))
    for step in changed.unknown:
        print(_("This version of the course has no {step}; its file was left out.", step=step))
    return 0


def _checks(number: int) -> str:
    return ngettext("{n} check", "{n} checks", number)
