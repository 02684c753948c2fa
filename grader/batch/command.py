"""The command `grade`: a class's submissions in, a folder of results out."""

from __future__ import annotations

import argparse
import math
import os
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.batch.given import add_option
from grader.batch.policy import Policy, add_options, insist_on_known, policy_from
from grader.batch.progress_bar import ProgressBar
from grader.errors import GraderError, UnknownExercise
from grader.seeds import SEEDS, seed
from lab.command_line import Form
from lab.language import LANGUAGES, N_, _, current, speaking

if TYPE_CHECKING:
    from grader.batch.given import Given
    from grader.batch.grade import Checker, Settings
    from grader.batch.overrides import Override
    from grader.batch.records import Attempt, Found

DESCRIPTION = N_(
    "Grades what a class handed in: a folder for each student, files named by student, zips, or a download from "
    "Moodle, Canvas, Gradescope or nbgrader, as it is. Each submission runs shut in: without network, without other "
    "files, within limits. Stop it whenever you like; the same command goes on where it was, and grades only what is "
    "new or changed."
)
EPILOG = N_(
    "RESULTS holds class.html, gradebook.csv (also as Moodle and Canvas take it), results.json, junit.xml, students/ "
    "with the feedback for each, and what Gradescope and exercism read.\n\nexit codes: 0 everything was graded, 1 "
    "something could not be graded, 2 wrong usage, 130 stopped with Ctrl+C"
)
TITLE = "Profile First"


class WrongGrade(GraderError):
    """The command can't be carried out as it was given; the message says what to change."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command, for every program that has it."""
    parser.description, parser.epilog = _(DESCRIPTION), _(EPILOG)
    parser.formatter_class = Form
    parser.add_argument("submissions", type=Path, metavar=_("SUBMISSIONS"), help=_("a folder or an archive"))
    parser.add_argument("--out", type=Path, required=True, metavar=_("RESULTS"), help=_("the folder of the results"))
    add_option(
        parser,
        "roster",
        "CSV",
        _("who is in the class, in this order; kept in RESULTS for later runs"),
        _("go by none any more"),
    )
    parser.add_argument(
        "--exercise",
        action="append",
        default=[],
        metavar=_("EXERCISE|LESSON"),
        help=_("what counts; all that was handed in"),
    )
    add_option(
        parser,
        "overrides",
        "CSV",
        _("points set by hand: student,exercise,points,reason; kept in RESULTS for later runs"),
        _("none are set by hand any more"),
    )
    parser.add_argument("--title", default=TITLE, metavar=_("TITLE"), help=_("of the gradebook and the pages"))
    parser.add_argument(
        "--language",
        default=current(),
        metavar=_("CODE"),
        help=_("of feedback, reports and messages: {known}", known=", ".join(LANGUAGES)),
    )
    parser.add_argument("--json", action="store_true", help=_("print a summary as JSON"))
    how = parser.add_argument_group(_("how it is graded"))
    how.add_argument(
        "--jobs", type=_jobs, default=None, metavar="N", help=_("at the same time (one for each processor)")
    )
    how.add_argument("--seed", type=seed, metavar="N", help=_("of the hidden inputs, the same for all (drawn once)"))
    how.add_argument("--seed-per-student", action="store_true", help=_("other hidden inputs for each student"))
    how.add_argument("--regrade", action="store_true", help=_("grade again what has not changed"))
    how.add_argument(
        "--unsafe", action="store_true", help=_("run submissions with your own rights, where they can't be shut in")
    )
    how.add_argument(
        "--longest-run", type=_seconds, metavar="S", help=_("stop each run after so many seconds, if not earlier")
    )
    how.add_argument(
        "--scheduler", metavar=_("ADDRESS"), help=_("let a Dask cluster do it, e.g. {name}", name="tcp://10.0.0.1:8786")
    )
    add_options(parser)


def _jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(_("{text!r} is no number of jobs: a whole number from 1 on", text=text))
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(_("{text!r} is no number of seconds", text=text))
    return seconds


def run(options: argparse.Namespace) -> int:
    """Carry the command out; returns the exit code. Raises GraderError with what to do about it."""
    from grader.reports.words import Words

    Words(options.language)  # or there are none
    with speaking(options.language):
        return _carry_out(options)


def _carry_out(options: argparse.Namespace) -> int:
    from grader.batch.given import given, keep
    from grader.batch.grade import grade
    from grader.batch.ledger import Ledger
    from grader.batch.points import gradebook, known_exercises, max_points
    from grader.batch.summary import as_json, as_text, not_assigned
    from grader.reports import write_all
    from grader.submissions.find import find
    from grader.submissions.roster import read_roster

    out: Path = options.out.absolute()
    if options.submissions.is_dir() and out.resolve().is_relative_to(options.submissions.resolve()):
        raise WrongGrade(_("{out} lies among the submissions. Give an --out beside them.", out=options.out))
    going_by = given(options, out)
    policy = policy_from(options, going_by["policy"].path if "policy" in going_by else None)
    roster = read_roster(going_by["roster"].path) if "roster" in going_by else None
    found = find(options.submissions, roster)
    if not found.attempts:
        raise WrongGrade("\n".join([*not_assigned(found), _nothing_in(options.submissions)]))
    points = max_points(_wanted(options.exercise, found))
    insist_on_known(policy, (student.id for student in found.students), known_exercises(points))
    overrides, left_out = _overrides(going_by.get("overrides"), found, points)
    attempts = _to_check(found, points, policy)
    if not options.json:
        for line in [*(line for each in going_by.values() for line in each.says()), *left_out]:
            print(line)
    say = ProgressBar(sys.stderr)
    seed = options.seed if options.seed is not None else secrets.randbelow(SEEDS)
    with Ledger(out, seed) as ledger:
        if options.seed is not None and ledger.seed != options.seed:
            raise WrongGrade(
                _(
                    "The results in {out} were made with the seed {seed}. Leave --seed out to go on with it, or give "
                    "another --out.",
                    out=options.out,
                    seed=ledger.seed,
                )
            )
        keep(going_by, out)
        settings, checkers = _settings(options)
        try:
            results = grade(attempts, ledger, settings, checkers=checkers, tell=say.progress)
        except KeyboardInterrupt:
            say.end()
            print(_("Stopped. What is graded is kept; the same command goes on from there."), file=sys.stderr)
            return 130
        finally:
            say.end()
        book = gradebook(
            found,
            results,
            policy=policy,
            overrides=overrides,
            exercises=points,
            title=options.title,
            graded_at_s=max((result.graded_at_s for result in results), default=time.time()),
        )
        try:
            write_all(book, out, options.language)
        except OSError as error:
            raise WrongGrade(
                _("{path} can't be written: {reason}.", path=error.filename or out, reason=error.strerror)
            ) from error
    if options.json:
        print(as_json(book, found, results, seed=ledger.seed, counted=say, out=out, given=going_by))
    else:
        for line in as_text(book, found, results, seed=ledger.seed, counted=say, out=options.out):
            print(line)
    return 1 if any(result.verdict is None for result in results) else 0


def _nothing_in(path: Path) -> str:
    return _(
        "Nothing in {path} is a submission. Looked for, in its folders and zip archives: .py files and notebooks named "
        "like an exercise (time_on_the_gpu.py), quiz answers (quiz.toml), and what 'profile-first submit' packs; each "
        "in a folder, an archive or a file named like its student.",
        path=path,
    )


def _overrides(
    file: Given | None, found: Found, points: Mapping[str, int]
) -> tuple[dict[tuple[str, str], Override], list[str]]:
    """What is set by hand, and what of an earlier run's file isn't about this one's students and exercises."""
    from grader.batch.overrides import read_overrides

    if file is None:
        return {}, []
    left_out: list[str] = []
    wanted = left_out if file.kept else None
    overrides = read_overrides(file.path, found.students, points, shown=file.source, left_out=wanted)
    return overrides, [_("Not in this gradebook: {line}", line=line) for line in left_out]


def _wanted(names: Sequence[str], found: Found) -> list[str]:
    """The exercises that count, in the order of the course."""
    from grader.check import exercise_ids
    from grader.quiz import quiz_ids

    course = [*exercise_ids(), *quiz_ids()]
    handed_in = {attempt.exercise for attempt in found.attempts}
    if not names:
        return [exercise for exercise in course if exercise in handed_in]
    wanted: set[str] = set()
    for name in names:
        chosen = {exercise for exercise in course if exercise == name or exercise.startswith(f"{name}/")}
        if not chosen:
            lessons = ", ".join(sorted({exercise.partition("/")[0] for exercise in course}))
            raise UnknownExercise(
                _("There is no exercise or lesson {name!r}. The lessons are: {lessons}.", name=name, lessons=lessons)
            )
        wanted |= chosen
    return [exercise for exercise in course if exercise in wanted]


def _to_check(found: Found, exercises: Mapping[str, int], policy: Policy) -> list[Attempt]:
    """The attempts that can count."""
    from grader.quiz import quiz_ids

    attempts = [attempt for attempt in found.attempts if attempt.exercise in exercises]
    if policy.count != "latest":
        return attempts
    latest = {(attempt.student, attempt.exercise): attempt for attempt in attempts}
    quizzes = set(quiz_ids())  # the latest that is answered counts, which is known when they are graded
    return [each for each in attempts if each.exercise in quizzes or latest[each.student, each.exercise] is each]


def _settings(options: argparse.Namespace) -> tuple[Settings, Sequence[Checker] | None]:
    from grader.batch.grade import Settings
    from grader.runner import bubblewrap

    bubble = None if options.unsafe else bubblewrap.find()[0]
    settings = Settings(
        jobs=options.jobs or _processors(),
        seed_per_student=options.seed_per_student,
        regrade=options.regrade,
        shut_in=not options.unsafe,
        bubble=bubble,
        longest_run_s=options.longest_run,
    )
    if options.scheduler is None:
        return settings, None
    from grader.batch.cluster import checkers

    return settings, checkers(
        options.scheduler, jobs=options.jobs, shut_in=not options.unsafe, longest_run_s=options.longest_run
    )


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
