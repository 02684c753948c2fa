"""What to take along: the recap of a lesson, and the one of the whole course."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content

from course.app.jobs import points_in_words
from course.app.prose import Block, Text, heading, parse
from course.app.screens.base import CourseScreen
from course.app.screens.lesson import CardScroll, LessonScreen
from course.app.widgets.actions import BACK, ActionBar, ActionButton, Spring
from course.app.widgets.prose import Prose

if TYPE_CHECKING:
    from course.catalog import Lesson, Step
    from course.progress import Best


class RecapScreen(LessonScreen):
    """The recap of a lesson: its text, and the points of its exercises and quiz."""

    EXPLAINS = """\
The end of the lesson: what to take along, and how many points the practice gave. Anything can be done again.
"""

    def show(self, step: Step) -> None:
        super().show(step)
        lesson = self.course.catalog.lesson(step.lesson)
        assert lesson is not None
        best = self.course.progress.best()
        blocks = [heading(step.title), *parse(step.text), *points_blocks([lesson], best)]
        blocks += predictions_blocks(*self.course.progress.predictions(lesson.id))
        following = self.course.catalog.after(step)
        goes_on = (
            f" goes on with “{self._lesson_title(following)}”." if following else " shows the recap of the course."
        )
        blocks.append(Text(Content.assemble(("Enter", "bold $text-accent"), goes_on)))
        self.query_one("#before", Prose).show(blocks)
        self.query_one("#after", Prose).show(())

    def _lesson_title(self, step: Step) -> str:
        lesson = self.course.catalog.lesson(step.lesson)
        return f"{lesson.number} {lesson.title}" if lesson else ""


class CourseRecapScreen(CourseScreen):
    """What the course taught, and the points of everything in it."""

    CSS_PATH = "lesson.tcss"
    EXPLAINS = """\
The recap of the course: what each lesson was for, and the points of all its exercises and quizzes.
"""
    BINDINGS = [  # noqa: RUF012
        Binding("f1,question_mark", "app.help", "Help", id="help"),
        Binding("escape,enter", "to_map", "Map", id="map", tooltip="Go to the course map"),
        Binding("left,p", "previous_step", "Back", id="step.previous", tooltip="Go to the last step of the course"),
    ]

    def body(self) -> ComposeResult:
        with CardScroll(id="card"):
            yield Prose(id="before")
        yield ActionBar(ActionButton(BACK, "p", "previous_step"), Spring(), ActionButton("Course map", "Esc", "to_map"))

    def open(self) -> None:
        self.header.place = Content.styled("Course recap", "bold")
        lessons, best = self.course.catalog.lessons, self.course.progress.best()
        graded = list(self.course.catalog.graded())
        passed = sum(best[step.id].passed for step in graded if step.id in best)
        blocks: list[Block] = [heading("What you can do now")]
        for lesson in lessons:
            title = Content.assemble((lesson.title, "bold"), ". ", lesson.promise)
            blocks.append(
                Text(title, Content.styled(f"{lesson.number}  ", "$text-primary"), after_gap=lesson.number == 1)
            )
        blocks.extend(parse("In a shell, `profile-first run train.py` runs a loop of your own on this GPU."))
        blocks.append(heading(f"{passed} of {len(graded)} exercises and quizzes passed"))
        blocks.extend(points_blocks(lessons, best))
        blocks += predictions_blocks(*self.course.progress.predictions())
        self.query_one(Prose).show(blocks)
        self.query_one(VerticalScroll).focus()

    def action_to_map(self) -> None:
        self.course.go_home()

    def action_previous_step(self) -> None:
        self.course.go_to(self.course.catalog.lessons[-1].steps[-1])


def predictions_blocks(came_true: int, made: int) -> list[Block]:
    """How many of the learner's predictions came true, once there are any."""
    if not made:
        return []
    words = f"{came_true} of {made} prediction{'' if made == 1 else 's'} came true"
    return [Text(Content(words), Content("  "), after_gap=False)]


def points_blocks(lessons: Sequence[Lesson], best: dict[str, Best]) -> list[Block]:
    """A line for each exercise and quiz, with its points, and the sum."""
    blocks: list[Block] = []
    earned, possible = 0, 0
    for lesson, step in ((each, step) for each in lessons for step in each.graded):
        result = best.get(step.id)
        points = result.points if result else 0
        earned, possible = earned + points, possible + step.points
        if result and result.passed:
            mark = Content.styled("✓ ", "$text-success")
        else:
            mark = Content.styled("◐ " if result else "○ ", "$text-warning" if result else "$foreground 60%")
        number = f"{lesson.number}  " if len(lessons) > 1 else ""
        line = Content.assemble((number, "$text-primary"), step.title, (f"  {points}/{step.points}", "$foreground 60%"))
        blocks.append(Text(line, mark, after_gap=not blocks))
    blocks.append(Text(Content.styled(points_in_words(earned, possible), "bold"), Content("  "), after_gap=False))
    return blocks
