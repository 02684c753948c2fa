"""The command `diagnose`: reads traces of any PyTorch program and says what the GPU waited for."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.names import WrongUsage
from lab.command_line import file_to_write
from lab.language import _

if TYPE_CHECKING:
    from lab.trace import Diagnosis
    from lab.trace.source import Progress

BIG_BYTES = 8 * 2**20
BAR_WIDTH = 30


def add_command(commands: Any) -> None:
    """Add the command to the command line's."""
    from lab.command_line import Form

    command: argparse.ArgumentParser = commands.add_parser(
        "diagnose",
        help=_("read a trace of any PyTorch program and say what the GPU waited for"),
        description=_(
            "Reads traces that torch.profiler wrote (.json or .json.gz, of any version, also damaged ones) and says "
            "what the GPU waited for, what shows it, what a fix could save at most, and what to try. Where a trace "
            "can't tell, it says why. Several traces are taken for the ranks of one run."
        ),
        epilog=_(
            "exit codes: 0 every trace was read, 2 one of them can't be, or wrong usage\n\n"
            "--show opens the course on top of which the timeline lies: Escape leaves the timeline, Ctrl+Q the course."
        ),
        formatter_class=Form,
    )
    command.add_argument("traces", metavar=_("TRACE"), nargs="*", help=_("e.g. {name}", name="trace.json.gz"))
    command.add_argument(
        "--compare", metavar=(_("BEFORE"), _("AFTER")), nargs=2, help=_("say what a change did, and if it helped")
    )
    command.add_argument("--json", action="store_true", help=_("print JSON"))
    command.add_argument(
        "--html", metavar=_("FILE"), type=file_to_write, help=_("write a page that needs nothing else")
    )
    command.add_argument(
        "--show", action="store_true", help=_("show it in the course's timeline, to zoom in; with --compare both runs")
    )
    command.set_defaults(do=run, parser=command)


def run(options: argparse.Namespace) -> int:
    """Diagnose what the options name; returns the exit code."""
    if bool(options.traces) == bool(options.compare):
        raise WrongUsage(_("give either traces or --compare BEFORE AFTER. 'profile-first diagnose --help' says more."))
    if options.show:
        return _show(options)
    from lab.trace import TraceUnreadable, compare, compare_ranks, diagnose

    found: list[Diagnosis] = []
    failures: list[str] = []
    for name in options.compare or options.traces:
        try:
            with _progress(Path(name)) as progress:
                found.append(diagnose(name, progress))
        except TraceUnreadable as error:
            failures.append(str(error))
    ranks = compare_ranks(found) if not options.compare and len(found) > 1 else None
    comparison = compare(found[0], found[1]) if options.compare and len(found) == 2 else None
    if options.html is not None and found:
        from course.diagnosis_page import page

        _write(options.html, page(found, comparison, ranks))
    if options.json and found:
        print(json.dumps(_plain(found, comparison, ranks, len(options.traces) == 1), indent=2, ensure_ascii=False))
    elif not options.json:
        from course.diagnosis_report import lines
        from course.report import Ink

        ink = Ink(sys.stdout)
        for line in lines(found, comparison, ranks, ink):
            print(ink.text(line))
    sys.stdout.flush()
    for failure in failures:
        print(_("profile-first: {notice}", notice=failure), file=sys.stderr)
    return 2 if failures else 0


def _show(options: argparse.Namespace) -> int:
    """Open the course's app on the traces."""
    if options.json or options.html is not None:
        raise WrongUsage(_("--show shows it on the screen, so it goes without --json and --html."))
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WrongUsage(_("--show needs a terminal. Without it the diagnosis is printed; --html FILE writes a page."))
    from course.app.app import run_app

    run_app([Path(name) for name in options.compare or options.traces], compare=bool(options.compare))
    return 0


def _plain(found: list[Diagnosis], comparison: Any, ranks: Any, only_one: bool) -> Any:
    """One trace is an object, several are in a list beside what they say together."""
    if only_one:
        return found[0].to_json()
    told: dict[str, Any] = {"traces": [each.to_json() for each in found]}
    if comparison is not None:
        told["comparison"] = comparison.to_json()
    if ranks is not None:
        told["ranks"] = ranks.to_json()
    return told


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WrongUsage(_("{path} can't be written: {reason}.", path=path, reason=error.strerror)) from None


@contextmanager
def _progress(path: Path) -> Iterator[Progress | None]:
    """A bar on the terminal while a large file is read."""
    try:
        big = path.stat().st_size >= BIG_BYTES
    except OSError:
        big = False
    if not (big and sys.stderr is not None and sys.stderr.isatty()):
        yield None
        return
    shown = -1

    def show(done: int, total: int) -> None:
        nonlocal shown
        percent = 100 * done // total
        if percent != shown:
            shown = percent
            bar = "#" * (BAR_WIDTH * done // total)
            reading = _("reading {name}", name=path.name)
            print(f"\r{reading} [{bar:<{BAR_WIDTH}}] {percent:3} %", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
