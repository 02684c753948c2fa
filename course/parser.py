"""What may be typed after `profile-first`: commands, their arguments, and what `--help` says about them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NoReturn

from course import commands, diagnose, folders, progress_command, serve, submit
from lab.command_line import Form, file_to_write, words_of_argparse
from lab.language import _


def parsed(given: list[str]) -> argparse.Namespace:
    """The arguments, read; `do` carries the command out. Where they can't be read, says what is wrong and exits."""
    with words_of_argparse():
        parser = _parser(grades=given[:1] == ["grade"])
        options, unknown = parser.parse_known_args(given)
        if unknown:
            # The command's own usage says more than that of the whole program.
            said = _("unrecognized arguments: {arguments}", arguments=" ".join(unknown))
            getattr(options, "parser", parser).error(said)
    return options


def _description() -> str:
    return _(
        "Profile First: find out where a PyTorch training loop spends its time and memory before you change it.\n"
        "Without a command, the course opens in the terminal where you left it."
    )


def _epilog() -> str:
    return _("""\
environment:
  PROFILE_FIRST_HOME   the folder of your code and your progress
  PROFILE_FIRST_GPU    auto (the default), simulated or real
  PROFILE_FIRST_LANG   en, it or fr; --lang says it too, for one time
  NO_COLOR             no colours

exit codes: 0 passed, 1 not passed, 2 wrong usage, 130 ended with Ctrl+C
""")


def _parser(*, grades: bool = False) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="profile-first",
        description=_description(),
        epilog=_epilog(),
        formatter_class=Form,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help=_("print the version and exit"))
    every = parser.add_subparsers(title=_("commands"), metavar=_("COMMAND"))

    command = every.add_parser("list", help=_("list the lessons, their exercises and what you have passed"))
    command.add_argument("--json", action="store_true", help=_("print JSON"))
    command.set_defaults(do=commands.list_all, parser=command)

    progress_command.add_command(every)
    _add_report(every)
    _add_run(every)
    _add_check(every)
    _add_hint_and_reset(every)
    _add_notebook(every)
    _add_watch(every)
    diagnose.add_command(every)
    serve.add_command(every)
    submit.add_command(every)

    if folders.GRADES_CLASSES.is_file():  # a copy of the course for students has none of that
        command = every.add_parser("grade", help=_("grade what a class handed in, and write gradebook and feedback"))
        if grades:  # its arguments take a moment to import
            from grader.batch.command import add_arguments

            add_arguments(command)
        command.set_defaults(do=commands.grade, parser=command)

    command = every.add_parser("doctor", help=_("examine the installation and say what to do about each problem"))
    command.add_argument("--json", action="store_true", help=_("print JSON"))
    command.set_defaults(do=commands.doctor, parser=command)
    return parser


def _add_report(every: Any) -> None:
    command = every.add_parser(
        "report",
        help=_("say what you learnt, as Markdown"),
        description=_(
            "Says what you can do now, what you got wrong and understood, and what is still open, as Markdown."
        ),
    )
    command.add_argument("--out", metavar=_("FILE"), type=file_to_write, help=_("write it to a file, e.g. report.md"))
    command.add_argument("--force", action="store_true", help=_("replace FILE, whatever it is"))
    command.set_defaults(do=commands.report, parser=command)


def _add_run(every: Any) -> None:
    command = every.add_parser("run", help=_("run a Python file with the GPU, real or simulated"))
    command.add_argument("file", metavar=_("FILE"), help=_("a Python file, e.g. your own train.py"))
    passed_on = command.add_argument(
        "arguments", metavar=_("ARGUMENT"), nargs=argparse.REMAINDER, help=_("passed on to the program")
    )
    passed_on.required = False  # or older Pythons say that it is
    command.set_defaults(do=commands.run, parser=command)


def _add_check(every: Any) -> None:
    command = every.add_parser(
        "check",
        help=_("check exercises and say what was observed"),
        description=_(
            "Checks your copy of an exercise, or any file whose path ends in <lesson>/<exercise>.py, or a notebook: "
            "one that the notebook command wrote says itself which exercises it holds. The code is run for that, with "
            "your rights: read files of others before you check them."
        ),
    )
    command.add_argument("what", metavar=_("EXERCISE|FILE"), nargs="+", help=_example())
    command.add_argument("--json", action="store_true", help=_("print a list of verdicts as JSON"))
    command.add_argument("--seed", type=_seed, metavar="N", help=_("repeat a check with the inputs of this seed"))
    command.add_argument(
        "--exercise", metavar=_("EXERCISE"), help=_("which exercise it is, where the file doesn't tell")
    )
    command.set_defaults(do=commands.check, parser=command)


def _example() -> str:
    return _("e.g. {name}", name="synchronize/time_on_the_gpu")


def _add_hint_and_reset(every: Any) -> None:
    command = every.add_parser(
        "hint",
        help=_("show the next hint of an exercise"),
        description=_("Shows the next hint of an exercise, from a nudge to nearly the answer. Hints cost no points."),
    )
    command.add_argument("exercise", metavar=_("EXERCISE"), help=_example())
    command.add_argument("--all", action="store_true", help=_("show all hints"))
    command.add_argument("--json", action="store_true", help=_("print JSON"))
    command.set_defaults(do=commands.hint, parser=command)

    command = every.add_parser(
        "reset",
        help=_("begin an exercise again; your code is kept beside it"),
        description=_("Puts the starter in the place of your code, which is kept as a backup; you are told where."),
    )
    command.add_argument("exercise", metavar=_("EXERCISE"), help=_example())
    command.set_defaults(do=commands.reset, parser=command)


def _add_notebook(every: Any) -> None:
    command = every.add_parser(
        "notebook",
        help=_("write exercises as notebooks for Jupyter or Colab"),
        description=_(
            "Writes each exercise as DIR/<lesson>/<exercise>.ipynb; the last one of a lesson holds its quiz as well. "
            "They run with or without a GPU, and 'profile-first check FILE.ipynb' grades them. A notebook that you "
            "have changed isn't overwritten."
        ),
    )
    command.add_argument(
        "what", metavar=_("EXERCISE|LESSON"), nargs="*", help=_("which ones; all of them if none is named")
    )
    command.add_argument("--out", metavar=_("DIR"), required=True, type=Path, help=_("the folder to write to"))
    command.add_argument("--mine", action="store_true", help=_("with your own code in place of the starter"))
    command.add_argument(
        "--seed", type=_seed, default=0, metavar="N", help=_("shuffle the choices of the quizzes by N")
    )
    command.add_argument(
        "--force", action="store_true", help=_("replace changed notebooks too; they are kept as backups")
    )
    command.add_argument("--json", action="store_true", help=_("print JSON"))
    command.set_defaults(do=commands.notebook, parser=command)


def _add_watch(every: Any) -> None:
    command = every.add_parser(
        "watch",
        help=_("check exercises again each time that you save them"),
        description=_(
            "Checks your copies of exercises, or files and notebooks, now and each time that you save them in an "
            "editor; without a name, every exercise once it is saved. A file that is saved again while it is checked "
            "is checked anew. Ctrl+C ends it (exit code 130)."
        ),
    )
    command.add_argument("what", metavar=_("EXERCISE|FILE"), nargs="*", help=_example())
    command.add_argument(
        "--exercise", metavar=_("EXERCISE"), help=_("which exercise it is, where the file doesn't tell")
    )
    command.add_argument("--poll", action="store_true", help=_("look at the files instead of asking the system"))
    command.add_argument("--json", action="store_true", help=_("print one JSON object a line for each verdict"))
    command.set_defaults(do=commands.watch, parser=command)


def _seed(text: str) -> int:
    """A seed, as the verdict records it."""
    from grader.seeds import seed  # only where one is given, so that --help imports nothing of the grader

    return seed(text)


class _Version(argparse.Action):
    """Prints the version; asking for it only then keeps everything else fast."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(f"profile-first {version()}")
        parser.exit(commands.PASSED)


def version() -> str:
    """The version that is installed."""
    import importlib.metadata

    try:
        return importlib.metadata.version("profile-first")
    except importlib.metadata.PackageNotFoundError:
        return _("(not installed)")
