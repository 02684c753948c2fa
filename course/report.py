"""Verdicts and findings as text for a terminal or a pipe."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lab.language import N_, _

if TYPE_CHECKING:
    from course.doctor import Finding
    from course.progress import Progress

_STATUS = {
    "passed": N_("passed"),
    "failed": N_("not passed"),
    "error": N_("stopped by an error"),
    "timeout": N_("ran out of time"),
    "crashed": N_("ended early"),
    "unanswered": N_("not answered"),
}
# Controls and halves of a pair; separators of lines; and what turns the direction of the text that follows.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def printable(text: str) -> str:
    """A line of text from a file of anybody's, without what a terminal would obey."""
    return _UNPRINTABLE.sub(" ", text)


def card_of(mistake: str | None) -> str | None:
    """The `<lesson>/<card>` that the grader's list of known mistakes names for one."""
    if not mistake:
        return None
    from grader import mistakes  # which takes a moment to import

    return mistakes.card_of(mistake)


def tell_notice(kept: Progress) -> None:
    """Say what opening the progress file has to say."""
    if kept.notice:
        print(_("profile-first: {notice}", notice=kept.notice), file=sys.stderr)


class Ink:
    """Colours for a stream: none where NO_COLOR is set, the terminal is dumb, or the stream is no terminal."""

    width: int | None = None
    """The columns to write in; None where it is the terminal's."""

    def __init__(self, stream: TextIO) -> None:
        self._colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()
        encoding = stream.encoding or "ascii"
        try:
            "✓✗◐○→│".encode(encoding)
            self._plain = False
        except UnicodeEncodeError:
            self._plain = True

    def good(self, text: str) -> str:
        return self._paint(text, "32")

    def bad(self, text: str) -> str:
        return self._paint(text, "31")

    def warn(self, text: str) -> str:
        return self._paint(text, "33")

    def bold(self, text: str) -> str:
        return self._paint(text, "1")

    def quiet(self, text: str) -> str:
        return self._paint(text, "2")

    def text(self, text: str) -> str:
        """Text without a colour of its own, with signs that the stream can take."""
        if self._plain:
            text = text.translate(str.maketrans("✓✗◐○→│µ█…“”", '+x~o>|u#~""'))
            text = text.encode("ascii", "replace").decode()
        return text

    def bar(self, part: int, whole: int, cells: int) -> str:
        """A bar of which as much is filled as the part is of the whole."""
        filled = min(cells * part // max(whole, 1), cells) or int(part > 0)
        if self._plain:
            return f"[{'#' * filled}{'.' * (cells - filled)}]"
        return f"{self._paint('━' * filled, '34')}{self._paint('─' * (cells - filled), '2')}"

    def _paint(self, text: str, code: str) -> str:
        if self._plain:
            text = text.translate(str.maketrans("✓✗◐○→│", "+x~o>|"))
        return f"\x1b[{code}m{text}\x1b[0m" if self._colours else text


def gpu_in_words(kind: str, name: str) -> str:
    """The GPU as every screen and report names it: whether it is real or simulated, and which one."""
    if kind == "simulated":
        return name if "simulated" in name.lower() else _("simulated GPU {name}", name=name)
    return _("real GPU {name}", name=name)


def verdict_in_words(verdict: Mapping[str, Any], path: Path, ink: Ink) -> Iterator[str]:
    """The lines of a verdict."""
    passed, unanswered = verdict["status"] == "passed", verdict["status"] == "unanswered"
    status = _("{name}: {detail}", name=verdict["exercise"], detail=_(_STATUS[verdict["status"]]))
    head = f"{'✓' if passed else '○' if unanswered else '✗'} {status}"
    points = _("{points}/{most} points", points=verdict["points"], most=verdict["max_points"])
    yield f"{(ink.good if passed else ink.warn if unanswered else ink.bad)(head)}, {points}"
    told: set[str] = set()
    for check in verdict["checks"] if not unanswered else ():
        mark = ink.good("✓") if check["passed"] else ink.bad("✗")
        message = check["message"]
        again = bool(message) and not check["passed"] and message in told
        because = _(", for the same reason") if again else ""
        score = f"{check['points']}/{check['max_points']}{because}"
        yield f"  {mark} {check['name']} {ink.quiet(score)}"
        if message and not check["passed"] and not again:
            told.add(message)
            yield from _wrapped(message, "    ")
    gpu = verdict["gpu"]
    where = f"{gpu_in_words(gpu['kind'], gpu['name'])}, " if gpu else ""
    ran = _("seed {seed}, {took_s:.1f} s", seed=verdict["seed"], took_s=float(verdict["duration_s"]))
    yield ink.quiet("  " + _("{name}: {detail}", name=path, detail=where + ran))


def finding_in_words(finding: Finding, ink: Ink) -> Iterator[str]:
    """The lines of one finding of the doctor."""
    mark = {"good": ink.good("✓"), "note": ink.warn("○"), "problem": ink.bad("✗")}[finding.status]
    yield f"{mark} " + _("{name}: {detail}", name=ink.bold(_(finding.name)), detail=finding.detail)
    if finding.fix:
        yield from _wrapped(_("To do: {fix}", fix=finding.fix), "    ")


def _wrapped(text: str, indent: str) -> Iterator[str]:
    width = max(shutil.get_terminal_size((100, 24)).columns, 40)
    for line in text.splitlines():
        # Code keeps its own indent and its own line.
        lead = indent + line[: len(line) - len(line.lstrip())]
        yield from textwrap.wrap(
            line.strip(), width, initial_indent=lead, subsequent_indent=lead, break_on_hyphens=False
        ) or [""]
