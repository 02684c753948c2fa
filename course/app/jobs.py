"""Runs and checks in words: what to say when one has ended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from textual.content import Content

from course.app.grading import RunResult
from course.app.prose import QUIET, Block, Text
from course.report import card_of, gpu_in_words
from lab.language import N_, _, ngettext

STATUS_WORDS = {
    "passed": (N_("✓ Passed"), "bold $text-success"),
    "failed": (N_("✗ Not yet"), "bold $text-warning"),
    "error": (N_("✗ Stopped by an error"), "bold $text-error"),
    "timeout": (N_("✗ Ran out of time"), "bold $text-error"),
    "crashed": (N_("✗ Ended early"), "bold $text-error"),
    "unanswered": (N_("○ Not answered"), "bold $text-warning"),
}
NO_INPUT = "EOFError: EOF when reading a line"
"""What Python says where input() finds nothing to read."""
NO_KEYBOARD = N_("A run has no keyboard: input() finds nothing to read.")


def errors_at_lines(texts: Iterable[str], file: str) -> dict[int, str]:
    """What went wrong in `file`, by the row where it did: the line that a traceback or a message names last.

    What a program printed counts as one text; only its last traceback is told.
    """
    wrong: dict[int, str] = {}
    for text in texts:
        named = list(re.finditer(rf'{re.escape(file)}"?, line (\d+).*\n?', text))
        if not named:
            continue
        # Below the frames of a traceback stands the error; a message of the grader begins with it.
        below = (line for line in text[named[-1].end() :].splitlines() if line[:1].strip())
        is_traceback = "Traceback (most" in text or text[named[-1].start() - 1 :][:1] in '"/\\'
        message = next(below, _("It went wrong here.")) if is_traceback else _cause(text.splitlines()[0])
        message = _(NO_KEYBOARD) if message.startswith(NO_INPUT) else message.replace("`", "")
        wrong.setdefault(int(named[-1].group(1)) - 1, message)
    return wrong


def _cause(message: str) -> str:
    """The exception that a message tells of, with what it says: beside the line, there is often room for no more."""
    found = re.search(r"\b[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning)\b(: .*|$)", message)
    found = found or re.search(r"\b[A-Z]\w*: .*", message)
    return found[0] if found else message


def ended_well(result: RunResult) -> bool:
    """Whether a run came to its end without an error."""
    return str(result.status) == "finished" and result.exit_code == 0


def run_summary(result: RunResult, printed: str, line: int | None = None) -> Content:
    """One line about how a run ended, and the line of the learner's file where it went wrong."""
    took = _took(result)
    status = str(result.status)
    timeline = _(" F10 shows its timeline.") if result.events else ""
    if ended_well(result):
        nothing = "" if printed else _(" It printed nothing.")
        return Content.assemble((_("✓ Finished"), "$text-success"), f"{took}.{nothing}{timeline}")
    if status == "finished":
        where = _(" Ctrl+L goes to line {line}.", line=line) if line else ""
        if printed.rstrip().endswith(NO_INPUT):
            return Content.assemble(("✗ ", "$text-error"), _(NO_KEYBOARD) + where)
        return Content.assemble(
            (_("✗ Error"), "$text-error"),
            _("{took}, exit code {code}.{where}", took=took, code=result.exit_code, where=where),
        )
    if status == "cancelled":
        return Content.assemble((_("■ Stopped"), "$text-warning"), f"{took}.")
    words = {"timeout": _("Ran out of time"), "crashed": _("Ended early"), "too_much_output": _("Too much output")}
    why = str(result.message or "").removeprefix(_("Stopped: "))
    return Content.assemble((f"✗ {words.get(status, status)}", "$text-error"), f"{took}. ", why[:1].upper() + why[1:])


def _took(result: RunResult) -> str:
    """How long a run took, and by which clock: the program and its timeline go by that of the simulated GPU."""
    if not result.duration_s:
        return ""
    if result.gpu is not None and result.gpu.kind == "simulated":
        return _(" after {duration_s:.1f} s real time", duration_s=result.duration_s)
    return _(" after {duration_s:.1f} s", duration_s=result.duration_s)


def points_in_words(points: int, max_points: int) -> str:
    return ngettext("{points} of {n} point", "{points} of {n} points", max_points, points=points)


def verdict_blocks(verdict: Mapping[str, Any], then: str) -> list[Block]:
    """A verdict to read: each check with its mark, and under a failed one what was observed.

    `then` says which key goes on; it is shown when the exercise is passed.
    """
    words, style = STATUS_WORDS[verdict["status"]]
    blocks: list[Block] = [
        Text(Content.assemble((_(words), style), f"  {points_in_words(verdict['points'], verdict['max_points'])}"))
    ]
    explained: list[str] = []
    told: set[str] = set()
    for check in verdict["checks"]:
        mark = Content.styled("✓ ", "$text-success") if check["passed"] else Content.styled("✗ ", "$text-error")
        message = check["message"]
        # A run that failed as a whole fails every check with the same words: say them once.
        again = bool(message) and not check["passed"] and message in told
        because = _(", for the same reason") if again else ""
        points = f"  {check['points']}/{check['max_points']}{because}"
        name = Content.assemble(check["name"], (points, QUIET))
        blocks.append(Text(name, mark, after_gap=check is verdict["checks"][0]))
        if not message or check["passed"] or again:
            continue
        told.add(message)
        for line in message.splitlines():
            indent = len(line) - len(line.lstrip())
            bar = Content.assemble(("│ ", "$text-error"), " " * indent)
            blocks.append(Text(Content(line.lstrip()), bar, indent=2, after_gap=False, on_every_line=True))
        if card := card_of(check["mistake"]):
            if card not in explained:
                explained.append(card)
            label = (
                _("Read the card on this: Ctrl+O once more, or click")
                if explained.index(card)
                else _("Read the card on this: Ctrl+O, or click")
            )
            blocks.append(Text(_link(label, card), Content.styled("→ ", "$text-accent"), indent=2, after_gap=False))
    if verdict["status"] == "passed":
        blocks.append(Text(Content.styled(then, "bold")))
    else:
        blocks.append(Text(Content.styled(_("Change the code and press F6 again; F7 gives a hint."), QUIET)))
    return blocks


def check_summary(verdict: Mapping[str, Any]) -> Content:
    """One line about where a check ran and how long it took."""
    gpu = verdict.get("gpu")
    took_s = float(verdict["duration_s"])
    if not gpu:
        return Content.styled(_("Checked in {took_s:.1f} s", took_s=took_s), QUIET)
    name = gpu_in_words(gpu["kind"], gpu["name"])
    return Content.styled(_("Checked in {took_s:.1f} s on the {gpu}", gpu=name, took_s=took_s), QUIET)


def _link(label: str, card: str) -> Content:
    from textual.style import Style

    meta = Style.from_meta({"@click": f"screen.open_card({card!r})"})
    return Content.styled(label, "underline $text-accent").stylize(meta)
