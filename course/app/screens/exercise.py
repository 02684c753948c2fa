"""An exercise: the task, the learner's code, what it prints and what the checks say."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on, work
from textual.app import ComposeResult
from textual.content import Content

from course.app.grading import explanations, verdict_json
from course.app.jobs import check_summary, ended_well, errors_at_lines, run_summary, verdict_blocks
from course.app.screens.code import CodeScreen
from course.app.screens.exercise_keys import KEYS
from course.app.task import no_hint_left, task_blocks
from course.app.widgets.actions import ActionBar, ActionButton
from course.app.widgets.editor import Editor
from course.app.widgets.exercise_panes import TaskScroll, VerdictView
from course.app.widgets.job import JobPanel, StatusLine
from course.app.widgets.plain import PlainHorizontal, PlainVertical
from course.app.widgets.prose import Prose
from course.workspace import WorkspaceError
from lab.language import N_, _

if TYPE_CHECKING:
    from course.catalog import Step

PANES = ("task", "code", "output")
OLDER = "bold $text-warning"
BEGIN_AGAIN = N_("Begin again from the starter file?\nYour code is kept in the backups folder beside it.")
BEGIN_AGAIN_OF_BOTH = N_("""\
Begin again from the starter file?
Another program changed it too: your code and the other
version are both kept in the backups folder beside it.""")
PANE_TITLES = {"task": N_("Task"), "code": N_("Code"), "output": N_("Output")}


class ExerciseScreen(CodeScreen):
    """Task, code and output; side by side where there is room, else one at a time."""

    CSS_PATH = "exercise.tcss"
    EXPLAINS = N_("""\
An exercise. Complete the code, run it with F5 as often as you like, and let F6 check it. The checks look at what your
code does on the GPU, not at how fast your machine is.

F2, F3 and F4 go to the task, the code and the output. In the editor, Tab indents and Shift+Tab goes back a level, also
for selected lines; Ctrl+/ makes comments, Ctrl+F finds and replaces. Escape leaves the editor, then single letters work
as keys too. Paste with your terminal's own key, often Ctrl+Shift+V. What went wrong in a run or check is shown at its
line until you change that line.

Your code is saved within a second, also when the terminal is closed. Ctrl+G opens it in your own editor ($VISUAL or
$EDITOR); what any other editor saves is shown here within a second. If you changed it here as well, you are asked which
version stays, and the other one is kept. F9 begins again from the starter file. Ctrl+Z takes all of this back.

F5 or F6 while something runs waits until that has ended, and then takes your code as it is by then. F8 first cancels
what waits, then stops what runs.

A program runs in a folder that is removed afterwards: to keep a file that it writes, give the file's whole path. Lines
of output that are wider than the window scroll sideways with > and <. Hints cost no points.
Ctrl+D shows a solution beside your code: at once after you passed, before that it asks.
""")
    BINDINGS = KEYS

    def __init__(self, step: Step, *, resumed: bool = False) -> None:
        """
        Args:
            step: The exercise.
            resumed: The course begins here because it was left here: open the pane that was open.
        """
        super().__init__(step)
        self._resumed = resumed
        self._explanations: list[str] = []
        """The cards that explain what the last check found."""
        self._next_explanation = 0
        self._error_line: int | None = None
        self._checked: str | None = None
        """The code that the verdict is on; None where that isn't known any more."""
        self._checks_older = False
        """Whether the verdict that is shown isn't on the code as it is now."""

    def body(self) -> ComposeResult:
        self.add_class(f"-{self.pane}", update=False)
        yield ActionBar(
            *(ActionButton(PANE_TITLES[pane], f"F{n}", f"pane({pane!r})", id=pane) for n, pane in enumerate(PANES, 2)),
            right=[
                ActionButton(N_("Run"), "F5", "run"),
                ActionButton(N_("Check"), "F6", "check"),
                ActionButton(N_("Hint"), "F7", "hint", id="hint"),
            ],
        )
        with PlainHorizontal(id="panes"):
            with TaskScroll(id="task"):
                yield Prose(id="brief")
            with PlainVertical(id="work"):
                yield Editor(id="editor")
                yield StatusLine(id="editor-status")
                yield JobPanel(id="job")

    @property
    def job_panel(self) -> JobPanel:
        return self.query_one(JobPanel)

    # What is shown

    def show(self, step: Step) -> None:
        self.leave()
        self.workers.cancel_group(self, "job")
        super().show(step)
        caret = self.course.progress.caret(step.id)
        self.load(caret)
        self._show_task()
        self._show_last_verdict()
        # Coming from another step, the letter that was pressed to get here may be pressed again: not into the code.
        self.action_pane(caret.pane if caret and self._resumed else "task")
        self._resumed = False

    def _show_task(self) -> None:
        step, progress = self.step, self.course.progress
        self.query_one("#brief", Prose).show(
            task_blocks(step, progress.hints_shown(step.id), progress.best().get(step.id))
        )

    def _show_last_verdict(self) -> None:
        verdict = self.course.progress.last_verdict(self.step.id)
        self.job_panel.output.clear()
        if verdict:
            self._checked = self.editor.text if self._checks_this_file(verdict) else None
            self._show_verdict(verdict)
        else:
            self._explanations, self._error_line = [], None
            self.job_panel.remove_class("-verdict")
            self.job_panel.tell(_what_runs)

    def _show_verdict(self, verdict: Mapping[str, Any]) -> None:
        self._explanations, self._next_explanation = explanations(verdict), 0
        messages = [check["message"] or "" for check in verdict["checks"] if not check["passed"]]
        wrong = errors_at_lines(messages, self.file_name)
        self._error_line = next(iter(wrong)) + 1 if wrong else None
        self.mark(wrong)
        self._say_verdict(verdict)
        self._checks_older = self.editor.text != self._checked
        self.job_panel.tell(lambda: self._how_checked(verdict))
        self.job_panel.add_class("-verdict")
        self.refresh_bindings()

    def _say_verdict(self, verdict: Mapping[str, Any]) -> None:
        if not self.query(VerdictView):  # most exercises are opened without a verdict
            self.job_panel.mount(VerdictView())
        self.query_one(VerdictView).show(verdict_blocks(verdict, _("Ctrl+N goes on to the next step.")))

    def _how_checked(self, verdict: Mapping[str, Any]) -> Content:
        explains = Content.styled(_("Ctrl+O explains  ·  "), "$text-accent") if self._explanations else Content("")
        if self._checks_older:
            return Content.styled(_("! This is of your code before you changed it; F6 checks it as it is now"), OLDER)
        return explains + check_summary(verdict)

    def _checks_this_file(self, verdict: Mapping[str, Any]) -> bool:
        """Whether the file is still as it was when it was checked."""
        with contextlib.suppress(OSError):
            source = self.course.workspace.path(self.step.id).read_bytes()
            return self.is_saved and hashlib.sha256(source).hexdigest() == verdict["source_sha256"]
        return False

    @on(Editor.Changed)
    def _compare_with_checked(self) -> None:
        """Say it where the verdict that is shown isn't on the code as it is now."""
        older = self.editor.text != self._checked
        if older != self._checks_older and self.job_panel.has_class("-verdict"):
            self._checks_older = older
            self.job_panel.tell_again()

    def retell(self) -> None:
        super().retell()
        self._show_task()
        verdict = self.course.progress.last_verdict(self.step.id)
        if verdict and self.job_panel.has_class("-verdict"):
            self._say_verdict(verdict)
        self.job_panel.tell_again()

    # Actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "stop":
            return self.course.job is not None
        if action == "interrupt":
            return self.course.job is not None and not self.has_selection
        if action == "explain":
            return bool(self._explanations or self.step.why) and self.course.job is None
        if action == "sideways":
            return self.is_mounted and self.job_panel.output.is_wide
        if action == "error_line":
            return self._error_line is not None
        return True

    def action_pane(self, pane: str) -> None:
        """Go to the task, the code or the output."""
        self.pane = pane if pane in PANES else "task"
        for each in PANES:
            self.set_class(each == self.pane, f"-{each}")
        self.query_one(ActionBar).active = self.pane
        if self.pane == "code":
            self.set_focus(self.editor)  # at once: what is typed next is code
        elif self.pane == "task":
            self.query_one(TaskScroll).focus()
        elif self.job_panel.has_class("-verdict"):
            self.query_one(VerdictView).focus()
        else:
            self.job_panel.output.focus()

    def show_code(self) -> None:
        self.action_pane("code")

    def action_back_out(self) -> None:
        narrow = not self.has_class("-wide")
        if self.editor.has_focus:
            self.set_focus(None)
            self.say_where()
        elif narrow and self.pane == "output":
            self.action_pane("code")
        else:
            self.course.go_home()

    def action_save(self) -> None:
        if self.agree(then=lambda: None):
            path = str(self.course.workspace.path(self.step.id))
            self.say(_("Saved in {path}", path=path.replace(str(Path.home()), "~", 1)))

    def action_hint(self) -> None:
        shown, total = self.course.progress.hints_shown(self.step.id), len(self.step.hints)
        if shown < total:
            self.course.progress.show_hints(self.step.id, shown + 1)
        else:
            self.notify(no_hint_left(self.step), timeout=8, markup=False)
        self._show_task()
        if not self.has_class("-wide"):
            self.action_pane("task")
        self.call_after_refresh(self.query_one(TaskScroll).scroll_end, animate=False)

    def action_reset(self) -> None:
        from course.app.screens.confirm import ConfirmScreen

        def answered(yes: bool | None) -> None:
            if yes:
                self._reset()

        self.save()
        question = BEGIN_AGAIN_OF_BOTH if self.both_changed else BEGIN_AGAIN
        self.app.push_screen(ConfirmScreen(_(question), N_("Reset")), answered)

    def _reset(self) -> None:
        workspace, step = self.course.workspace, self.step.id
        try:
            self.save()
            if self.both_changed:
                self.keep_neither()  # the other program's version is in the file, which is backed up below
            elif not self.is_saved:
                return
            backup = workspace.reset(step)
        except (WorkspaceError, OSError) as error:
            self.notify(str(error), severity="error", timeout=10, markup=False)
            return
        self.reload()
        self.action_pane("code")
        if backup:
            self.say(
                _(
                    "Ctrl+Z undoes the reset; your code is also {folder}/{file}",
                    folder=backup.parent.name,
                    file=backup.name,
                )
            )

    def action_explain(self) -> None:
        """Open the card that explains what the check found, with several one after the other; else why this matters."""
        cards = self._explanations or [f"{self.step.lesson}/{self.step.why}"]
        then = self.action_explain if len(cards) > 1 else None
        card = cards[self._next_explanation % len(cards)]
        self._next_explanation += 1
        self.course.show_aside(card, then=then)

    def action_solution(self) -> None:
        from course.app.screens.solution import ask_to_see

        self.save()
        ask_to_see(self.course, self.step, self.editor.text)

    def action_sideways(self, direction: int) -> None:
        self.job_panel.output.scroll_sideways(direction)

    def action_open_card(self, card: str) -> None:
        self.course.show_aside(card)

    def action_error_line(self) -> None:
        if self._error_line is not None:
            self.show_code()
            self.editor.move_cursor((self._error_line - 1, 0), center=True)

    def action_copy_output(self) -> None:
        verdict = self.job_panel.has_class("-verdict")
        text = self.query_one("#verdict-text", Prose).text if verdict else self.job_panel.output.text
        self.course.copy(text)

    def action_stop(self) -> None:
        self.course.stop_job()

    def action_interrupt(self) -> None:
        self.course.stop_job()

    def action_run(self) -> None:
        if not self.editor.read_only:
            self.say("")
            self._run()

    def action_check(self) -> None:
        if not self.editor.read_only:
            self.say("")
            self._check()

    def _begin(self, label: str) -> None:
        self._error_line = None
        self.mark({})
        self.job_panel.remove_class("-verdict")
        self.job_panel.begin(label, self.course.job_waits_for, lambda: self.course.turns.waiting)
        if not self.has_class("-wide"):
            self.action_pane("output")

    @work(group="job", exit_on_error=False)
    async def _run(self) -> None:
        step, panel = self.step, self.job_panel
        async with self.course.turns.turn(N_("the run")) as mine:
            # What runs is what the editor shows when its turn comes.
            if not mine or not self.agree(then=self.action_run):
                return
            self._begin(N_("Running"))
            result = await self.course.run_file(self.course.workspace.path(step.id), panel.feed)
            panel.end()
            wrong = errors_at_lines([panel.output.text], self.file_name)
            self._error_line = max(wrong) + 1 if wrong else None
            self.mark(wrong)
            line = self._error_line
            panel.tell(lambda: run_summary(result, panel.output.text, line))
            if not ended_well(result):
                panel.output.scroll_end(animate=False)  # what went wrong is said last

    @work(group="job", exit_on_error=False)
    async def _check(self) -> None:
        step, panel = self.step, self.job_panel
        async with self.course.turns.turn(N_("the check")) as mine:
            if not mine or not self.agree(then=self.action_check):
                return
            self._begin(N_("Checking"))
            checked = self.editor.text
            verdict, problem = await self.course.check_file(step.id, self.course.workspace.path(step.id))
            if verdict is None:
                panel.end(lambda: problem)
                return
            panel.end()
            self._checked = checked
            self._show_verdict(verdict_json(verdict))
            self._show_task()
            if not self.has_class("-wide"):
                self.action_pane("output")


def _what_runs() -> Content:
    return Content.styled(_("F5 runs your file, F6 checks it"), "$foreground 60%")
