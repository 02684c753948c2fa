"""What each command does, once the command line is read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.names import WrongUsage
from lab.language import _, passed_on

if TYPE_CHECKING:
    import argparse

    from course.catalog import Step
    from course.progress import Best

PASSED, NOT_PASSED = 0, 1


def app() -> int:
    """Open the course."""
    in_a_page = "TEXTUAL_DRIVER" in os.environ  # set by the server, which talks to the app through pipes
    if not in_a_page and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WrongUsage(_("the course needs a terminal. In a pipe, use list, run or check; --help says more."))
    import gc

    # Nothing that is made while starting is garbage: collecting it only delays the first frame. The app collects again.
    gc.disable()
    from course.app.app import run_app

    run_app()
    return PASSED


def list_all(options: argparse.Namespace) -> int:
    from course import catalog, progress
    from course.report import tell_notice

    lessons = catalog.load()
    with progress.at_home() as kept:
        tell_notice(kept)
        best = kept.best()
    rows = {
        lesson.id: [(step, progress.status_of(best.get(step.id)), best.get(step.id)) for step in lesson.graded]
        for lesson in lessons.lessons
    }
    if options.json:
        listed = [
            {
                "id": lesson.id,
                "title": lesson.title,
                "exercises": [
                    {
                        "id": step.id,
                        "title": step.title,
                        "points": step.points,
                        "earned": result.points if result else 0,
                        "status": status,
                    }
                    for step, status, result in rows[lesson.id]
                ],
            }
            for lesson in lessons.lessons
        ]
        print(json.dumps({"lessons": listed}, indent=2, ensure_ascii=False))
        return PASSED
    from course.report import Ink

    ink = Ink(sys.stdout)
    width = max(len(step.id) for step in lessons.graded())
    for lesson in lessons.lessons:
        print(ink.bold(f"{lesson.number} {lesson.title}"), ink.quiet(f"({lesson.minutes} min)"), _sum(rows[lesson.id]))
        for step, status, result in rows[lesson.id]:
            mark = {"passed": ink.good("✓"), "attempted": ink.warn("◐"), "new": ink.quiet("○")}[status]
            score = f"{result.points if result else 0}/{step.points}"
            print(f"  {mark} {step.id:<{width}}  {score:>5}  {step.title}")
    print(ink.bold(_("All together:")), _sum([row for listed in rows.values() for row in listed]))
    return PASSED


def _sum(rows: Sequence[tuple[Step, str, Best | None]]) -> str:
    """The points earned of those that there are."""
    earned, most = sum(best.points for *_row, best in rows if best), sum(step.points for step, *_row in rows)
    return _("{points}/{most} points", points=earned, most=most)


def run(options: argparse.Namespace) -> int:
    file = Path(options.file)
    if not file.is_file():
        what = _("is a folder") if file.is_dir() else _("is no file to read") if file.exists() else _("doesn't exist")
        raise WrongUsage(_("{file!r} {what}. Give the path of a Python file.", file=options.file, what=what))
    command = [sys.executable, "-m", "lab.run", str(file), *options.arguments]
    sys.stdout.flush()
    if os.name == "posix":
        os.execve(sys.executable, command, passed_on())
    import subprocess

    return subprocess.run(command, check=False, env=passed_on()).returncode


def check(options: argparse.Namespace) -> int:
    from course import catalog, names, workspace
    from course.report import Ink, verdict_in_words

    own, lessons = workspace.at_home(), catalog.load()
    if options.exercise is not None:
        names.graded_step(options.exercise, lessons)
    # Wrong names are found before anything is run.
    wanted = [pair for what in options.what for pair in names.to_check(what, lessons, own, options.exercise)]

    from grader.check import check
    from grader.errors import GradedByInstructor
    from grader.runner.warm import WarmRunner
    from grader.verdict import to_plain

    ink, verdicts = Ink(sys.stdout), list[dict[str, Any]]()
    with WarmRunner() as runner:
        for exercise, path in wanted:
            try:
                verdict = to_plain(check(exercise, path, seed=options.seed, runner=runner))
            except GradedByInstructor as error:
                if len(wanted) == 1:
                    raise
                print(_("profile-first: {notice}", notice=error), file=sys.stderr)
                continue
            verdicts.append(verdict)
            if names.is_own(path, exercise, own):
                _keep(verdict)
            if not options.json:
                if len(verdicts) > 1:
                    print()
                print("\n".join(verdict_in_words(verdict, path, ink)), flush=True)
    if options.json:
        print(json.dumps(verdicts, indent=2, ensure_ascii=False))
    return PASSED if verdicts and all(verdict["status"] == "passed" for verdict in verdicts) else NOT_PASSED


def _keep(verdict: dict[str, Any]) -> None:
    """Keep the points, if they can be kept: whoever waited for a verdict gets it on a full disk too."""
    from course import progress
    from course.report import tell_notice

    try:
        with progress.at_home() as kept:
            tell_notice(kept)
            kept.record(verdict)
    except progress.ProgressError as error:
        print(_("profile-first: {notice}", notice=error), file=sys.stderr)


def hint(options: argparse.Namespace) -> int:
    from course import practice

    return practice.hint(options.exercise, all_of_them=options.all, as_json=options.json)


def reset(options: argparse.Namespace) -> int:
    from course import practice

    return practice.reset(options.exercise)


def report(options: argparse.Namespace) -> int:
    from course.learnt_report import report

    return report(options.out, force=options.force)


def notebook(options: argparse.Namespace) -> int:
    from course.notebooks import write

    return write(
        options.what,
        options.out,
        mine=options.mine,
        seed=options.seed,
        force=options.force,
        as_json=options.json,
    )


def watch(options: argparse.Namespace) -> int:
    from course.watch import watch

    return watch(options.what, exercise=options.exercise, poll=options.poll, as_json=options.json)


def doctor(options: argparse.Namespace) -> int:
    from course.doctor import examine
    from course.report import Ink, finding_in_words

    findings = examine()
    if options.json:
        from dataclasses import asdict

        print(json.dumps({"findings": [asdict(finding) for finding in findings]}, indent=2, ensure_ascii=False))
    else:
        ink = Ink(sys.stdout)
        for finding in findings:
            print("\n".join(finding_in_words(finding, ink)))
    return PASSED if all(finding.status != "problem" for finding in findings) else NOT_PASSED


def grade(options: argparse.Namespace) -> int:
    from grader.batch.command import run

    return run(options)
