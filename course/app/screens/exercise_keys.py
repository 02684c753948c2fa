"""The keys of an exercise: function keys and Ctrl with a letter also while one types, letters outside of the editor."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from course.app.screens.base import SIDEWAYS, SOLUTION, TIMELINE
from lab.language import N_

KEYS: list[BindingType] = [
    Binding("f1", "app.help", N_("Help"), id="help", priority=True, tooltip=N_("Show this help")),
    Binding("question_mark", "app.help", N_("Help"), id="help.letter", show=False),
    Binding("f5,ctrl+r", "run", N_("Run"), id="run", priority=True, show=False, tooltip=N_("Run your file")),
    Binding(
        "f6",
        "check",
        N_("Check"),
        id="check",
        priority=True,
        show=False,
        tooltip=N_("Let the grader check your file"),
    ),
    Binding("f7,ctrl+t", "hint", N_("Hint"), id="hint", priority=True, show=False, tooltip=N_("Show the next hint")),
    Binding(
        "f8",
        "stop",
        N_("Stop"),
        id="stop",
        priority=True,
        tooltip=N_("Stop the program that runs; if a run or check waits for that, cancel what waits"),
    ),
    Binding(
        "ctrl+c",
        "interrupt",
        N_("Stop"),
        id="stop.ctrl",
        priority=True,
        show=False,
        tooltip=N_("Copy what is selected; if nothing is, stop the program that runs"),
    ),
    Binding("ctrl+n", "next_step", N_("Next"), id="step.next", priority=True, tooltip=N_("Go to the next step")),
    Binding("escape", "back_out", N_("Back"), id="back", tooltip=N_("Leave the editor; then go to the course map")),
    Binding("f2", "pane('task')", N_("Task"), id="pane.task", priority=True, show=False, tooltip=N_("To the task")),
    Binding("f3", "pane('code')", N_("Code"), id="pane.code", priority=True, show=False, tooltip=N_("To the code")),
    Binding(
        "f4",
        "pane('output')",
        N_("Output"),
        id="pane.output",
        priority=True,
        show=False,
        tooltip=N_("To the output"),
    ),
    Binding(
        "f9",
        "reset",
        N_("Reset"),
        id="reset",
        priority=True,
        show=False,
        tooltip=N_("Begin again from the starter file"),
    ),
    Binding(
        "ctrl+o",
        "explain",
        N_("Why?"),
        id="explain",
        priority=True,
        tooltip=N_("Read the card on what the check found; once more, the next one. Else the card on why this matters"),
    ),
    Binding(
        "ctrl+s",
        "save",
        N_("Save"),
        id="save",
        priority=True,
        show=False,
        tooltip=N_("Save now (it happens by itself too)"),
    ),
    Binding(
        "ctrl+l",
        "error_line",
        N_("Error line"),
        id="error.line",
        priority=True,
        show=False,
        tooltip=N_("Go to the line where the program went wrong"),
    ),
    *TIMELINE,
    *SIDEWAYS,
    *SOLUTION,
    Binding("n", "next_step", N_("Next step"), id="step.next.letter", show=False, tooltip=N_("Go to the next step")),
    Binding(
        "p", "previous_step", N_("Step before"), id="step.previous", show=False, tooltip=N_("Go to the step before")
    ),
    Binding("e,i", "pane('code')", N_("Edit"), id="edit", show=False, tooltip=N_("Edit the code")),
    Binding(
        "c",
        "copy_output",
        N_("Copy output"),
        id="output.copy",
        show=False,
        tooltip=N_("Copy what the program printed"),
    ),
]
