"""Help with one exercise on the command line: its next hint, and a fresh start."""

from __future__ import annotations

import json
import sys

from course import catalog, names, progress, workspace
from course.report import Ink, tell_notice
from lab.language import N_, _


def hint(exercise: str, *, all_of_them: bool, as_json: bool) -> int:
    """Show the next hint; how many were shown is remembered, here and in the app."""
    step = names.exercise_step(exercise, catalog.load(), N_("{name} is a quiz: it has no hints."))
    total = len(step.hints)
    with progress.at_home() as kept:
        tell_notice(kept)
        before = min(kept.hints_shown(step.id), total)
        shown = total if all_of_them else min(before + 1, total)
        if shown > before:
            kept.show_hints(step.id, shown)
    first = 0 if all_of_them else before
    if as_json:
        hints = [{"number": n, "text": step.hints[n - 1]} for n in range(first + 1, shown + 1)]
        told = {"exercise": step.id, "shown": shown, "total": total, "hints": hints}
        print(json.dumps(told, indent=2, ensure_ascii=False))
        return 0
    ink = Ink(sys.stdout)
    if first == shown:
        print(
            _(
                "There are no more hints for {exercise}: you have seen all {count}. --all shows them again.",
                exercise=step.id,
                count=total,
            )
        )
        return 0
    for number in range(first + 1, shown + 1):
        print(ink.bold(_("Hint {number} of {count}", number=number, count=total)))
        print(ink.text(step.hints[number - 1]))
        if number < shown:
            print()
    return 0


def reset(exercise: str) -> int:
    """Put the starter in the place of the learner's code, which is kept."""
    step = names.exercise_step(
        exercise, catalog.load(), N_("{name} is a quiz: it has no starter; in the app, r at its end takes it again.")
    )
    own = workspace.at_home()
    begun = own.path(step.id).exists()
    backup = own.reset(step.id)
    print(
        _("{path} is the starter again.", path=own.path(step.id))
        if begun
        else _("{path} is the starter now.", path=own.path(step.id))
    )
    if backup is not None:
        print(_("Your code is kept as {backup}.", backup=backup))
    return 0
