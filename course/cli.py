"""The command line: what can be asked of the course in a shell."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from course import language
from course.names import WrongUsage
from lab.language import LANGUAGES, _

if TYPE_CHECKING:
    from course.catalog import Step
    from course.progress import Best

PASSED, NOT_PASSED, WRONG_USAGE = 0, 1, 2

DESCRIPTION = """\
Profile First: find out where a PyTorch training loop spends its time and memory before you change it.
Without a command, the course opens in the terminal where you left it.
"""
EPILOG = """\
environment:
  PROFILE_FIRST_HOME   the folder of your code and your progress
  PROFILE_FIRST_GPU    auto (the default), simulated or real
  PROFILE_FIRST_LANG   en, it or fr; --lang says it too, for one time
  NO_COLOR             no colours

exit codes: 0 passed, 1 not passed, 2 wrong usage, 130 ended with Ctrl+C
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    if sys.stdout is None:  # closed by whoever started the program
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for the rest of the process
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        chosen, given = language.told(given)
    except ValueError as error:
        language.begin()
        said = _("--lang takes one of {known}, not {given!r}.", known=", ".join(LANGUAGES), given=str(error))
        print(f"profile-first: {said}", file=sys.stderr)
        return WRONG_USAGE
    language.begin(chosen)
    options = _parsed(given) if given else argparse.Namespace()  # the app, as it is mostly begun, needs no parser
    command = getattr(options, "do", _app)
    try:
        code: int = command(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, e.g. `head`, has seen enough. Python must not fail again when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_PASSED
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.filename is not None:  # a folder that may not be searched, a name that is too long
            print(f"profile-first: {error.filename}: {error.strerror}.", file=sys.stderr)
            return WRONG_USAGE
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        print(f"profile-first: the output can't be written: {error.strerror}.", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WRONG_USAGE
    except Exception as error:
        if not _is_for_people(error):
            raise
        print(f"profile-first: {error}", file=sys.stderr)
        return WRONG_USAGE
    return code


def _is_for_people(error: Exception) -> bool:
    """Whether the error's message was written to be read by whoever typed the command."""
    from course.catalog import CatalogError
    from course.progress import ProgressError
    from course.quiz import QuizUnreadable
    from course.workspace import WorkspaceError

    if isinstance(error, (WrongUsage, CatalogError, ProgressError, QuizUnreadable, WorkspaceError)):
        return True
    errors = sys.modules.get("grader.errors")
    return errors is not None and isinstance(error, errors.GraderError)


def _parsed(given: list[str]) -> argparse.Namespace:
    parser = _parser(grades=given[:1] == ["grade"])
    options, unknown = parser.parse_known_args(given)
    if unknown:
        # The command's own usage says more than that of the whole program.
        getattr(options, "parser", parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    return options


def _parser(*, grades: bool = False) -> argparse.ArgumentParser:
    from course import diagnose, folders, progress_command, serve, submit

    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="profile-first", description=DESCRIPTION, epilog=EPILOG, formatter_class=form, allow_abbrev=False
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    command = commands.add_parser("list", help="list the lessons, their exercises and what you have passed")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(do=_list, parser=command)

    progress_command.add_command(commands)

    command = commands.add_parser(
        "report",
        help="say what you learnt, as Markdown",
        description="Says what you can do now, what you got wrong and understood, and what is still open, as Markdown.",
    )
    command.add_argument("--out", metavar="FILE", type=Path, help="write it to a file, e.g. report.md")
    command.add_argument("--force", action="store_true", help="replace FILE, whatever it is")
    command.set_defaults(do=_report, parser=command)

    command = commands.add_parser("run", help="run a Python file with the GPU, real or simulated")
    command.add_argument("file", metavar="FILE", help="a Python file, e.g. your own train.py")
    passed_on = command.add_argument(
        "arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="passed on to the program"
    )
    passed_on.required = False  # or older Pythons say that it is
    command.set_defaults(do=_run, parser=command)

    command = commands.add_parser(
        "check",
        help="check exercises and say what was observed",
        description="""\
Checks your copy of an exercise, or any file whose path ends in <lesson>/<exercise>.py, or a notebook: one that the
notebook command wrote says itself which exercises it holds. The code is run for that, with your rights: read files of
others before you check them.
""",
        formatter_class=form,
    )
    command.add_argument("what", metavar="EXERCISE|FILE", nargs="+", help="e.g. synchronize/time_on_the_gpu")
    command.add_argument("--json", action="store_true", help="print a list of verdicts as JSON")
    command.add_argument("--seed", type=_seed, metavar="N", help="repeat a check with the inputs of this seed")
    command.add_argument("--exercise", metavar="EXERCISE", help="which exercise it is, where the file doesn't tell")
    command.set_defaults(do=_check, parser=command)

    command = commands.add_parser(
        "hint",
        help="show the next hint of an exercise",
        description="Shows the next hint of an exercise, from a nudge to nearly the answer. Hints cost no points.",
    )
    command.add_argument("exercise", metavar="EXERCISE", help="e.g. synchronize/time_on_the_gpu")
    command.add_argument("--all", action="store_true", help="show all hints")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(do=_hint, parser=command)

    command = commands.add_parser(
        "reset",
        help="begin an exercise again; your code is kept beside it",
        description="Puts the starter in the place of your code, which is kept as a backup; you are told where.",
    )
    command.add_argument("exercise", metavar="EXERCISE", help="e.g. synchronize/time_on_the_gpu")
    command.set_defaults(do=_reset, parser=command)

    command = commands.add_parser(
        "notebook",
        help="write exercises as notebooks for Jupyter or Colab",
        description="""\
Writes each exercise as DIR/<lesson>/<exercise>.ipynb; the last one of a lesson holds its quiz as well. They run with or
without a GPU, and 'profile-first check FILE.ipynb' grades them. A notebook that you have changed isn't overwritten.
""",
        formatter_class=form,
    )
    command.add_argument("what", metavar="EXERCISE|LESSON", nargs="*", help="which ones; all of them if none is named")
    command.add_argument("--out", metavar="DIR", required=True, type=Path, help="the folder to write to")
    command.add_argument("--mine", action="store_true", help="with your own code in place of the starter")
    command.add_argument("--seed", type=_seed, default=0, metavar="N", help="shuffle the choices of the quizzes by N")
    command.add_argument("--force", action="store_true", help="replace changed notebooks too; they are kept as backups")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(do=_notebook, parser=command)

    command = commands.add_parser(
        "watch",
        help="check exercises again each time that you save them",
        description="""\
Checks your copies of exercises, or files and notebooks, now and each time that you save them in an editor; without a
name, every exercise once it is saved. A file that is saved again while it is checked is checked anew. Ctrl+C ends it
(exit code 130).
""",
        formatter_class=form,
    )
    command.add_argument("what", metavar="EXERCISE|FILE", nargs="*", help="e.g. synchronize/time_on_the_gpu")
    command.add_argument("--exercise", metavar="EXERCISE", help="which exercise it is, where the file doesn't tell")
    command.add_argument("--poll", action="store_true", help="look at the files instead of asking the system")
    command.add_argument("--json", action="store_true", help="print one JSON object a line for each verdict")
    command.set_defaults(do=_watch, parser=command)

    diagnose.add_command(commands)
    serve.add_command(commands)
    submit.add_command(commands)

    if folders.GRADES_CLASSES.is_file():  # a copy of the course for students has none of that
        command = commands.add_parser("grade", help="grade what a class handed in, and write gradebook and feedback")
        if grades:  # its arguments take a moment to import
            from grader.batch.command import add_arguments

            add_arguments(command)
        command.set_defaults(do=_grade, parser=command)

    command = commands.add_parser("doctor", help="examine the installation and say what to do about each problem")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(do=_doctor, parser=command)
    return parser


def _grade(options: argparse.Namespace) -> int:
    from grader.batch.command import run

    return run(options)


def _seed(text: str) -> int:
    """A seed, as the verdict records it."""
    from grader.seeds import seed  # only where one is given, so that --help imports nothing of the grader

    return seed(text)


class _Version(argparse.Action):
    """Prints the version; asking for it only then keeps everything else fast."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(f"profile-first {version()}")
        parser.exit(PASSED)


def version() -> str:
    """The version that is installed."""
    import importlib.metadata

    try:
        return importlib.metadata.version("profile-first")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def _app(_options: argparse.Namespace) -> int:
    in_a_page = "TEXTUAL_DRIVER" in os.environ  # set by the server, which talks to the app through pipes
    if not in_a_page and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WrongUsage(_("the course needs a terminal. In a pipe, use list, run or check; --help says more."))
    import gc

    # Nothing that is made while starting is garbage: collecting it only delays the first frame. The app collects again.
    gc.disable()
    from course.app.app import run_app

    run_app()
    return PASSED


def _list(options: argparse.Namespace) -> int:
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


def _run(options: argparse.Namespace) -> int:
    file = Path(options.file)
    if not file.is_file():
        what = _("is a folder") if file.is_dir() else _("is no file to read") if file.exists() else _("doesn't exist")
        raise WrongUsage(_("{file!r} {what}. Give the path of a Python file.", file=options.file, what=what))
    command = [sys.executable, "-m", "lab.run", str(file), *options.arguments]
    sys.stdout.flush()
    if os.name == "posix":
        os.execv(sys.executable, command)
    import subprocess

    return subprocess.run(command, check=False).returncode


def _check(options: argparse.Namespace) -> int:
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
                print(f"profile-first: {error}", file=sys.stderr)
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
        print(f"profile-first: {error}", file=sys.stderr)


def _hint(options: argparse.Namespace) -> int:
    from course import practice

    return practice.hint(options.exercise, all_of_them=options.all, as_json=options.json)


def _reset(options: argparse.Namespace) -> int:
    from course import practice

    return practice.reset(options.exercise)


def _report(options: argparse.Namespace) -> int:
    from course.learnt_report import report

    return report(options.out, force=options.force)


def _notebook(options: argparse.Namespace) -> int:
    from course.notebooks import write

    return write(
        options.what,
        options.out,
        mine=options.mine,
        seed=options.seed,
        force=options.force,
        as_json=options.json,
    )


def _watch(options: argparse.Namespace) -> int:
    from course.watch import watch

    return watch(options.what, exercise=options.exercise, poll=options.poll, as_json=options.json)


def _doctor(options: argparse.Namespace) -> int:
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
