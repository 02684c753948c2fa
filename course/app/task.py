"""The task of an exercise as it is read: its text, the hints that were asked for, and which keys help now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from course.app.jobs import points_in_words
from course.app.prose import QUIET, Block, Text, heading, parse
from course.progress import status_of
from lab.language import _, ngettext

if TYPE_CHECKING:
    from course.catalog import Step
    from course.progress import Best


def task_blocks(step: Step, hints_shown: int, best: Best | None) -> list[Block]:
    """What the pane of the task shows."""
    blocks: list[Block] = [heading(step.title), *parse(step.text)]
    for number, hint in enumerate(step.hints[:hints_shown], 1):
        title = _("Hint {number} of {count}", number=number, count=len(step.hints))
        blocks += [Text(Content.styled(title, "bold $text-accent")), *parse(hint)]
    score = {
        "passed": _("✓ Passed, {points}.", points=points_in_words(best.points if best else 0, step.points)),
        "attempted": _("Best so far: {points}.", points=points_in_words(best.points if best else 0, step.points)),
        "new": ngettext("{n} point.", "{n} points.", step.points),
    }[status_of(best)]
    hints = "" if best and best.passed else f" {_hints(step, hints_shown)}" if step.hints else ""
    why = _(" Ctrl+O says why this matters.") if step.why and not best else ""
    keys = _("{score} F3 goes to the code, F5 runs it, F6 checks it.{hints}{why}", score=score, hints=hints, why=why)
    blocks.append(Text(Content.styled(keys, QUIET)))
    return blocks


def _hints(step: Step, shown: int) -> str:
    left = len(step.hints) - shown
    if not left:
        return _("All hints are shown; Ctrl+D shows a solution.")
    return ngettext(
        "F7 gives a hint ({n} left, it costs no points).", "F7 gives a hint ({n} left, they cost no points).", left
    )


def no_hint_left(step: Step) -> str:
    """What F7 says when all hints are shown: what else helps."""
    said = _("All hints are shown.") if step.hints else _("This exercise has no hints.")
    card = _("Ctrl+O opens the card on this. ") if step.why else ""
    return said + " " + card + _("Ctrl+D shows a solution beside your code.")
