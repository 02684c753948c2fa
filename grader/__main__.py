"""The grader for instructors and authors: grades files, hands the course out, finds what an exercise lacks."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from grader.batch.command import add_arguments
from grader.errors import GraderError
from grader.seeds import seed
from grader.verdict import Verdict, to_json
from lab.command_line import file_to_write, words_of_argparse
from lab.language import LANGUAGES, N_, _, ngettext, of_environment, speaking, told
from lab.nearest_letters import print_nearest_letters

DESCRIPTION = N_(
    "The grader for instructors and authors: grades files, hands the course out, finds what an exercise lacks."
)


def main(arguments: list[str] | None = None) -> int:
    print_nearest_letters()
    try:
        chosen, given = told(sys.argv[1:] if arguments is None else arguments)
    except ValueError as error:
        known = ", ".join(LANGUAGES)
        print(_("grader: --lang takes one of {known}, not {given!r}.", known=known, given=str(error)), file=sys.stderr)
        return 2
    with speaking(chosen or of_environment()):
        with words_of_argparse():
            options = _parser().parse_args(given)
        try:
            code = _carried_out(options)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader, e.g. `head`, has seen enough. Python must not fail again when it flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m grader", description=_(DESCRIPTION))
    commands = parser.add_subparsers(title=_("commands"), dest="command", metavar=_("COMMAND"), required=True)
    check = commands.add_parser("check", help=_("grade files whose paths end in <lesson>/<exercise>.py or .ipynb"))
    check.add_argument("files", nargs="+", type=Path, metavar=_("FILE"))
    check.add_argument("--exercise", metavar=_("EXERCISE"), help=_("which exercise it is, where the file doesn't tell"))
    check.add_argument("--seed", type=seed, metavar="N", help=_("repeat a check with the inputs of this seed"))
    check.add_argument("--json", action="store_true", help=_("print a list of verdicts as JSON"))
    lint = commands.add_parser("lint", help=_("find what is missing or wrong anywhere in the course"))
    lint.add_argument("--quick", action="store_true", help=_("don't run the starters and solutions"))
    release = commands.add_parser(
        "release", help=_("write the course for students, without solutions; or for Gradescope")
    )
    release.add_argument(
        "assigned", nargs="*", metavar=_("EXERCISE|LESSON"), help=_("what counts; all if none is named")
    )
    release.add_argument("--out", type=Path, metavar=_("DIR"), help=_("a new folder for the course as students get it"))
    release.add_argument("--without-checks", action="store_true", help=_("students can't check their code themselves"))
    release.add_argument(
        "--gradescope", type=file_to_write, metavar=_("FILE.zip"), help=_("an autograder to upload to Gradescope")
    )
    release.add_argument(
        "--unsafe",
        action="store_true",
        help=_("let the autograder grade where submissions can't be kept apart from it"),
    )
    autograde = commands.add_parser("autograde", help=_("grade what one student handed in, as Gradescope asks for it"))
    autograde.add_argument("submission", type=Path, metavar=_("DIR"))
    autograde.add_argument(
        "--assignment", type=Path, required=True, metavar=_("FILE"), help=_("what counts, from release")
    )
    autograde.add_argument("--out", type=Path, required=True, metavar=_("FILE"), help=_("the results.json to write"))
    grade = commands.add_parser("grade", help=_("grade what a class handed in, and write gradebook and feedback"))
    add_arguments(grade)
    return parser


def _carried_out(options: argparse.Namespace) -> int:
    try:
        if options.command == "grade":
            from grader.batch.command import run

            return run(options)
        if options.command == "lint":
            return _lint(options.quick)
        if options.command == "release":
            return _release(options)
        if options.command == "autograde":
            from grader.autograde import autograde as grade_one

            return grade_one(options.submission, options.assignment, options.out)
        return _check(options.files, options.exercise, options.seed, options.json)
    except GraderError as error:
        print(f"grader: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.filename is None:
            raise
        # A folder that may not be searched, a name that is too long.
        print(f"grader: {error.filename}: {error.strerror}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _lint(quick: bool) -> int:
    from grader.lint import THIS_COURSE, lint
    from grader.lint.runs import run_all

    complaints = lint()
    for complaint in complaints:
        print(complaint)
    if not quick:
        found = run_all(THIS_COURSE, _tell if sys.stderr.isatty() else lambda _: None)
        complaints += found
        for complaint in found:
            print(complaint)
    return 1 if complaints else 0


def _release(options: argparse.Namespace) -> int:
    from grader.release import NotReleased, autograder, release

    if options.out is None and options.gradescope is None:
        raise NotReleased(
            _("Say what to write: --out DIR for students, --gradescope FILE.zip for Gradescope, or both.")
        )
    if options.out is not None:
        files = release(options.out, assigned=options.assigned, checks=not options.without_checks)
        print(
            ngettext(
                "{out}: {n} file for students, without solutions and the answers to quizzes",
                "{out}: {n} files for students, without solutions and the answers to quizzes",
                len(files),
                out=options.out,
            )
        )
    if options.gradescope is not None:
        files = autograder(options.gradescope, assigned=options.assigned, unsafe=options.unsafe)
        print(
            ngettext(
                "{out}: {n} file for Gradescope, with the solutions. Students mustn't get it.",
                "{out}: {n} files for Gradescope, with the solutions. Students mustn't get it.",
                len(files),
                out=options.gradescope,
            )
        )
    return 0


def _tell(exercise: str) -> None:
    print(_("running {exercise}", exercise=exercise), file=sys.stderr)


def _check(files: list[Path], exercise: str | None, seed: int | None, as_json: bool) -> int:
    from grader.check import check, exercises_of
    from grader.errors import UnknownExercise
    from grader.runner.warm import open_runner

    verdicts: list[Verdict] = []
    with open_runner() as runner:
        for file in files:
            wanted = [exercise] if exercise else exercises_of(file)
            if not wanted:
                raise UnknownExercise(
                    _(
                        "{file} doesn't say which exercise it is: its path should end in <lesson>/<exercise>.py or "
                        ".ipynb. Name it with --exercise.",
                        file=file,
                    )
                )
            for each in wanted:
                verdict = check(each, file, seed=seed, runner=runner)
                verdicts.append(verdict)
                if not as_json:
                    print(as_text(verdict), flush=True)
    if as_json:
        print(f"[{', '.join(to_json(verdict).decode() for verdict in verdicts)}]")
    return 0 if all(verdict.passed for verdict in verdicts) else 1


def as_text(verdict: Verdict) -> str:
    gpu = f", {verdict.gpu.name}" if verdict.gpu is not None else ""
    head = ngettext(
        "{exercise}: {status}, {points} of {n} point",
        "{exercise}: {status}, {points} of {n} points",
        verdict.max_points,
        exercise=verdict.exercise,
        status=verdict.status,
        points=verdict.points,
    )
    lines = [f"{head} (" + _("seed {seed}", seed=verdict.seed) + f"{gpu})"]
    for result in verdict.checks:
        lines.append(f"  {'✓' if result.passed else '✗'} {result.name} ({result.points}/{result.max_points})")
        if result.message is not None:
            lines += [f"      {line}" for line in result.message.splitlines()]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
