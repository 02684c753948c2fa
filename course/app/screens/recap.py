"""What to take along: the recap of a lesson, and the one of the whole course."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.style import Style

from course import learnt, learnt_report, standing
from course.app.jobs import points_in_words
from course.app.prose import Block, Text, heading, parse
from course.app.screens.base import HELP, CourseScreen
from course.app.screens.lesson import CardScroll, LessonScreen
from course.app.widgets.actions import BACK, ActionBar, ActionButton
from course.app.widgets.prose import Prose
from course.report import card_of
from course.workspace import WorkspaceError, write_atomically
from lab.language import N_, _, ngettext

if TYPE_CHECKING:
    from course.catalog import Lesson, Step
    from course.learnt import Learnt
    from course.standing import Done


MOST_KEYS = 9


class RecapScreen(LessonScreen):
    """The recap of a lesson: its text, the points of its exercises and quiz, and what is worth another look."""

    EXPLAINS = N_("""\
The end of the lesson: what to take along, how many points the practice gave, and what is worth another look: a number
opens it. Anything can be done again.
""")
    BINDINGS = [  # noqa: RUF012
        Binding(
            str(number),
            f"look_again({number - 1})",
            f"Look again at {number}",
            show=False,
            id=f"recap.look{number}",
            tooltip=f"Open what stands at {number}",
        )
        for number in range(1, MOST_KEYS + 1)
    ]

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self._worth_a_look: list[Step] = []

    def say_card(self, blocks: Sequence[Block]) -> None:
        step = self.step
        lesson = self.course.catalog.lesson(step.lesson)
        assert lesson is not None
        (learned,) = learnt.learnt(self.course.progress, self.course.catalog, card_of, lesson.id)
        shown: list[Block] = [heading(step.title)]
        if learned.reached.complete and lesson.promise:
            shown.append(Text(Content.styled(lesson.promise, "bold"), Content.styled("✓ ", "$text-success")))
        shown += [*blocks, *points_blocks(lesson, standing.done(self.course.progress))]
        shown += predictions_blocks(*learned.predictions)
        shown += self._look_again_blocks(learned)
        following = self.course.catalog.after(step)
        goes_on = (
            _(" goes on with “{lesson}”.", lesson=self._lesson_title(following))
            if following
            else _(" shows the recap of the course.")
        )
        shown.append(Text(Content.assemble((_("Enter"), "bold $text-accent"), goes_on)))
        self.query_one("#before", Prose).show(shown)
        self.query_one("#after", Prose).show(())

    def _look_again_blocks(self, learned: Learnt) -> list[Block]:
        """What isn't done or wasn't understood, each with the number that opens it."""
        self._worth_a_look, lines = [], []
        for step in learned.open:
            self._worth_a_look.append(step)
            lines.append(Content.assemble((step.title, "bold"), _(" isn't done yet.")))
        for mistake in learned.mistakes:
            if mistake.card is not None and not mistake.understood and mistake.card not in self._worth_a_look:
                self._worth_a_look.append(mistake.card)
                lines.append(
                    Content.assemble(
                        (mistake.card.title, "bold"), _(" explains “{mistake}”.", mistake=mistake.in_words)
                    )
                )
        quiz = next((step for step in learned.lesson.steps if step.kind == "quiz"), None)
        if quiz is not None and learned.wrong_answers and quiz not in self._worth_a_look:
            self._worth_a_look.append(quiz)
            wrong = len(learned.wrong_answers)
            lines.append(
                Content.assemble(
                    (quiz.title, "bold"), ngettext(": {n} answer can be better.", ": {n} answers can be better.", wrong)
                )
            )
        understood = sorted({mistake.in_words for mistake in learned.mistakes if mistake.understood})
        blocks: list[Block] = []
        if understood:
            blocks.append(Text(Content.assemble((_("Made and understood: "), "bold"), f"{', '.join(understood)}.")))
        if lines:
            blocks.append(Text(Content.styled(_("Worth another look"), "bold $text-primary")))
        for number, line in enumerate(lines[:MOST_KEYS], 1):
            link = line.stylize(Style.from_meta({"@click": f"screen.look_again({number - 1})"}))
            blocks.append(Text(link, Content.styled(f"{number}  ", "bold $text-accent"), after_gap=False))
        return blocks

    def action_look_again(self, index: int) -> None:
        """Open what stands at a number: a card on top, exercises and quizzes as what they are."""
        if index < len(self._worth_a_look):
            step = self._worth_a_look[index]
            if step.kind == "card":
                self.course.show_aside(step.id)
            else:
                self.course.go_to(step)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "look_again":
            return isinstance(parameters[0], int) and parameters[0] < len(self._worth_a_look)
        return super().check_action(action, parameters)

    def _lesson_title(self, step: Step) -> str:
        lesson = self.course.catalog.lesson(step.lesson)
        return f"{lesson.number} {lesson.title}" if lesson else ""


class CourseRecapScreen(CourseScreen):
    """The report of what was learnt in the whole course, also before its end."""

    CSS_PATH = "lesson.tcss"
    EXPLAINS = N_("""\
What you learnt so far: what you can do now, the points, what went wrong and was understood, what is still open. s saves
it as a Markdown file, c copies it.
""")
    BINDINGS = [  # noqa: RUF012
        HELP,
        Binding("escape,enter", "to_map", N_("Map"), id="map", tooltip=N_("Go to the course map")),
        Binding("s", "save_report", N_("Save"), id="report.save", tooltip=N_("Save this report as a Markdown file")),
        Binding(
            "c", "copy_report", N_("Copy"), id="report.copy", show=False, tooltip=N_("Copy this report as Markdown")
        ),
        Binding(
            "left,p", "previous_step", N_("Back"), id="step.previous", tooltip=N_("Go to the last step of the course")
        ),
    ]

    def body(self) -> ComposeResult:
        with CardScroll(id="card"):
            yield Prose(id="before")
        yield ActionBar(
            ActionButton(BACK, "p", "previous_step"),
            ActionButton(N_("Save"), "s", "save_report"),
            ActionButton(N_("Copy"), "c", "copy_report"),
            right=[ActionButton(N_("Course map"), "Esc", "to_map")],
        )

    def open(self) -> None:
        self._say_report()
        self.query_one(VerticalScroll).focus()

    def retell(self) -> None:
        super().retell()
        self._say_report()

    def _say_report(self) -> None:
        self.header.place = Content.styled(_("Course recap"), "bold")
        kept, lessons = self.course.progress, self.course.catalog
        blocks: list[Block] = [heading(_("Course recap")), *parse(learnt_report.body(kept, lessons, date.today()))]
        blocks.extend(parse(_("In a shell, `profile-first run train.py` runs a loop of your own on this GPU.")))
        self.query_one(Prose).show(blocks)

    def action_save_report(self) -> None:
        path = self.course.workspace.folder.parent / "report.md"
        try:
            write_atomically(path, self._markdown())
        except WorkspaceError as error:
            self.notify(str(error), severity="error", timeout=10, markup=False)
        else:
            self.notify(_("Saved as {path}", path=path), timeout=8, markup=False)

    def action_copy_report(self) -> None:
        self.course.copy(self._markdown())

    def _markdown(self) -> str:
        return learnt_report.markdown(self.course.progress, self.course.catalog, date.today())

    def action_to_map(self) -> None:
        self.course.go_home()

    def action_previous_step(self) -> None:
        self.course.go_to(self.course.catalog.lessons[-1].steps[-1])


def predictions_blocks(came_true: int, made: int) -> list[Block]:
    """How many of the learner's predictions came true, once there are any."""
    if not made:
        return []
    words = ngettext(
        "{came_true} of {n} prediction came true", "{came_true} of {n} predictions came true", made, came_true=came_true
    )
    return [Text(Content(words), Content("  "), after_gap=False)]


def points_blocks(lesson: Lesson, what: Done) -> list[Block]:
    """A line for each exercise and quiz, with its points, and the sum."""
    marks = {"done": ("✓ ", "$text-success"), "begun": ("◐ ", "$text-warning"), "new": ("○ ", "$foreground 60%")}
    blocks: list[Block] = []
    for step in lesson.graded:
        points = f"  {what.points(step)}/{step.points}"
        if step.kind == "quiz" and what.state(step) == "done" and what.points(step) < step.points:
            points += _(", all answered")  # or its ✓ would contradict the points
        line = Content.assemble(step.title, (points, "$foreground 60%"))
        blocks.append(Text(line, Content.styled(*marks[what.state(step)]), after_gap=not blocks))
    earned = sum(map(what.points, lesson.graded))
    if blocks:
        blocks.append(
            Text(Content.styled(points_in_words(earned, lesson.points), "bold"), Content("  "), after_gap=False)
        )
    return blocks
