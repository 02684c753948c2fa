"""A solution beside one's own code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from course.app.diff import SIDE_BY_SIDE, show
from course.app.screens.base import HELP, CourseScreen
from course.app.screens.lesson import CardScroll
from course.app.widgets.actions import ActionBar, ActionButton
from course.compare import compare
from course.workspace import WorkspaceError
from lab.language import N_, _, ngettext

if TYPE_CHECKING:
    from course.app.app import CourseApp
    from course.catalog import Step

BEFORE_PASSING = N_("""\
Look at a solution before your code passes?

Your points and your code stay as they are, and the exercise can still be passed for full points. \
Your progress will say that you looked first. F7 gives a hint instead.""")


class SolutionScreen(CourseScreen):
    """What one would change to get from one's own code to the solution."""

    CSS_PATH = "solution.tcss"
    AUTO_FOCUS = "#card"
    EXPLAINS = N_("""\
A solution beside your code: - is yours, + is the solution, and words that differ are underlined. Equal lines are left
out. It is one way that passes; others are as good.
""")
    BINDINGS = [  # noqa: RUF012
        HELP,
        Binding("n", "change(1)", N_("Next change"), id="change.next", tooltip=N_("Go to the next change")),
        Binding("p", "change(-1)", N_("Change before"), id="change.previous", tooltip=N_("Go to the change before")),
        Binding("escape,d,ctrl+d", "back", N_("Back"), id="solution.back", tooltip=N_("Go back to your code")),
    ]

    def __init__(self, step: Step, mine: str, theirs: str) -> None:
        """
        Args:
            step: The exercise.
            mine: The learner's code.
            theirs: The solution.
        """
        super().__init__()
        self._exercise = step
        self._mine, self._theirs = mine, theirs
        self._rows = compare(mine, theirs)
        self._changes: tuple[int, ...] = ()
        self._at = -1

    def body(self) -> ComposeResult:
        yield Static(id="sides", markup=False)
        with CardScroll(id="card"):
            yield Static(id="diff", markup=False)
        yield ActionBar(
            ActionButton(N_("Change before"), "p", "change(-1)"),
            right=[ActionButton(N_("Next change"), "n", "change(1)")],
        )

    def open(self) -> None:
        self.header.place = Content.assemble((self._exercise.title, "bold"), _("  a solution"))
        self._draw()
        self.app.theme_changed_signal.subscribe(self, lambda theme: self._draw())

    def retell(self) -> None:
        super().retell()
        step = self._exercise = self.course.catalog.step(self._exercise.id) or self._exercise
        self.header.place = Content.assemble((step.title, "bold"), _("  a solution"))
        self._draw()

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        width = self.query_one("#card", CardScroll).scrollable_content_region.width
        if not width:
            return
        shown = show(self._rows, self._mine, self._theirs, width, painted=not self.app.native_ansi_color)
        self._changes = shown.changes
        nothing = Content.styled(_("Your code is this solution, line by line."), "$text-success")
        self.query_one("#diff", Static).update(shown.text if shown.changes else nothing)
        self.query_one("#sides", Static).update(_sides(width))
        self._tell()

    def _tell(self) -> None:
        number, count = self._at + 1, len(self._changes)
        which = (
            _("change {number} of {count}", number=number, count=count)
            if number
            else ngettext("{n} change", "{n} changes", count)
        )
        self.query_one(ActionBar).middle = Content.styled(which, "$foreground 60%")

    def action_change(self, direction: int) -> None:
        """Go to the next change, or the one before."""
        if self._changes:
            self._at = min(max(self._at + direction, 0), len(self._changes) - 1)
            self.query_one("#card", CardScroll).scroll_to(y=max(self._changes[self._at] - 2, 0), animate=False)
            self._tell()

    def action_back(self) -> None:
        self.dismiss()


def _sides(width: int) -> Content:
    mine, theirs = Content.assemble(("- ", "bold"), _("yours")), Content.assemble(("+ ", "bold"), _("a solution"))
    if width >= SIDE_BY_SIDE:
        return Content.assemble(mine.pad_right((width - 1) // 2 - mine.cell_length + 1), theirs)
    return Content.assemble(mine, "   ", theirs)


def ask_to_see(app: CourseApp, step: Step, mine: str) -> None:
    """Show the solution: at once after passing, before that only if the learner says so."""
    try:
        theirs = app.workspace.solution(step.id)
    except WorkspaceError as error:
        app.notify(str(error), severity="error", timeout=10, markup=False)
        return
    best = app.progress.best().get(step.id)
    passed = best is not None and best.passed

    def answered(yes: bool | None) -> None:
        if yes:
            app.progress.see_solution(step.id, passed=passed)
            app.push_screen(SolutionScreen(step, mine, theirs))

    if passed or step.id in app.progress.solutions_seen():
        answered(True)
        return
    from course.app.screens.confirm import ConfirmScreen

    app.push_screen(ConfirmScreen(_(BEFORE_PASSING), N_("Show it")), answered)
