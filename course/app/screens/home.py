"""The course map: every lesson with what was done of it, and where one stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from course import standing
from course.app.finding import HOW_TO_BOOKMARK
from course.app.jobs import points_in_words
from course.app.screens.base import HELP, CourseScreen
from course.app.widgets.choice_list import ChoiceList
from lab.language import N_, _

if TYPE_CHECKING:
    from course.catalog import Lesson, Step
    from course.standing import Done, LessonStanding

COURSE_RECAP, BOOKMARKS = "course-recap", "bookmarks"
BOOKMARK_SIGN = "◆"
KIND_WORDS = {"card": "", "exercise": N_("exercise"), "quiz": N_("quiz"), "recap": N_("recap")}
BAR_CELLS, COURSE_BAR_CELLS = 8, 24


class HomeScreen(CourseScreen):
    """The course map."""

    CSS_PATH = "home.tcss"
    EXPLAINS = N_("""\
The map of the course. Below a lesson's title stands what you can do after it; the bar shows the points that you have.
A lesson has its ✓ when its cards were read, its exercises passed and its quiz answered, with mistakes or without.
Enter opens the lesson where you stopped in it; the right arrow shows its steps, so that you can go to any of them.
The number of a lesson goes to it.
Nothing is locked: take the lessons in any order. Bookmarks, which b sets on any step, are listed at the end.

Your code and your progress are saved as you go. Leave whenever you like; the next start opens where you were.
""")
    BINDINGS = [  # noqa: RUF012
        Binding(
            "right,l",
            "steps",
            N_("Steps"),
            id="map.steps",
            key_display="→",
            tooltip=N_("Show the steps of this lesson"),
        ),
        Binding(
            "left,h,escape",
            "lessons",
            N_("Lessons"),
            id="map.lessons",
            key_display="←",
            tooltip=N_("Back to the lessons"),
        ),
        Binding(
            "b",
            "bookmark_step",
            N_("Bookmark"),
            id="map.bookmark",
            show=False,
            tooltip=N_("Mark the step under the cursor, or take the mark away"),
        ),
        HELP,
    ]

    def body(self) -> ComposeResult:
        yield Static(id="welcome", markup=False)
        with Horizontal(id="map"):
            yield ChoiceList(id="lessons")
            yield ChoiceList(id="steps")

    @property
    def lessons(self) -> ChoiceList:
        return self.query_one("#lessons", ChoiceList)

    @property
    def steps(self) -> ChoiceList:
        return self.query_one("#steps", ChoiceList)

    def open(self) -> None:
        self.header.place = Content.styled("Profile First", "bold $text-accent")
        self.query_one("#welcome", Static).update(self._welcome())
        self.lessons.focus()

    def retell(self) -> None:
        super().retell()
        self.query_one("#welcome", Static).update(self._welcome())
        self._fill_lessons()
        self._fill_steps()

    @on(ChoiceList.Resized, "#lessons")
    def _fit_lessons(self) -> None:
        begins = not self.lessons.options
        self._fill_lessons()
        if begins:
            place = self.course.progress.place()
            ids = [lesson.id for lesson in self.course.catalog.lessons]
            self.lessons.highlighted = ids.index(place.lesson) if place and place.lesson in ids else 0

    @on(ChoiceList.Resized, "#steps")
    def _fit_steps(self) -> None:
        self._show_steps()

    def _welcome(self) -> Content:
        place = self.course.progress.place()
        step = self.course.catalog.step(f"{place.lesson}/{place.step}") if place else None
        if step is None:
            return Content.assemble(
                (_("Find out where a training loop loses its time before you change it.\n"), "bold"),
                _(
                    "Short cards, real PyTorch code to run and to edit, checks that say why.\n"
                    "There is nothing to set up. Without a GPU, code runs on a simulated one.\n"
                ),
                (_("Enter"), "bold $text-accent"),
                _(" begins."),
            )
        reached = standing.standing(self.course.catalog, standing.done(self.course.progress))
        return Content.assemble(
            (_("Welcome back.  "), "bold"),
            bar(reached.points, reached.max_points, COURSE_BAR_CELLS, complete=reached.complete),
            f"  {points_in_words(reached.points, reached.max_points)}\n",
            f"{standing.in_words(reached)}.\n",
            (_("Enter"), "bold $text-accent"),
            _(" goes on at “{title}”.", title=step.title),
        )

    def _fill_lessons(self) -> None:
        width = self.lessons.size.width - 3
        reached = standing.standing(self.course.catalog, standing.done(self.course.progress))
        rows = [Option(_lesson_row(each, width), id=each.lesson.id) for each in reached.lessons]
        rows.append(Option(_last_row("★", _("Course recap"), _("what you learnt"), width), id=COURSE_RECAP))
        marked = str(len(self.course.bookmarked())) if self.course.bookmarked() else _("b marks a step")
        rows.append(Option(_last_row(BOOKMARK_SIGN, _("Bookmarks"), marked, width), id=BOOKMARKS))
        self.lessons.replace(rows)

    def _fill_steps(self) -> None:
        what, width = standing.done(self.course.progress), self.steps.size.width - 5
        marked = {step.id for step in self.course.bookmarked()}
        in_lessons = self._highlighted_lesson() is None
        rows = []
        for step in self._listed_steps():
            lesson = self.course.catalog.lesson(step.lesson) if in_lessons else None
            number = f"{lesson.number}  " if lesson else ""
            rows.append(Option(_step_row(step, what, number, width, marked=step.id in marked), id=step.id))
        self.steps.replace(rows)

    def _listed_steps(self) -> list[Step]:
        """The steps of the lesson that is highlighted, or those that are marked."""
        option = self.lessons.highlighted_option
        lesson = self._highlighted_lesson()
        if lesson is not None:
            return list(lesson.steps)
        return self.course.bookmarked() if option is not None and option.id == BOOKMARKS else []

    def _highlighted_lesson(self) -> Lesson | None:
        option = self.lessons.highlighted_option
        return self.course.catalog.lesson(option.id) if option and option.id else None

    @on(OptionList.OptionHighlighted, "#lessons")
    def _show_steps(self) -> None:
        if not self.steps.display:
            return
        self._fill_steps()
        lesson = self._highlighted_lesson()
        place = self.course.progress.place(lesson.id) if lesson else None
        self.steps.highlighted = (lesson.index(place.step) if lesson and place else None) or 0

    @on(OptionList.OptionSelected, "#lessons")
    def _open_lesson(self, event: OptionList.OptionSelected) -> None:
        if event.option.id == COURSE_RECAP:
            self.course.go_to_course_recap()
        elif event.option.id == BOOKMARKS and not self.course.bookmarked():
            self.notify(_("There is no bookmark yet.") + " " + _(HOW_TO_BOOKMARK), timeout=8, markup=False)
        elif event.option.id == BOOKMARKS:
            self.action_steps()
        elif event.option.id:
            self.course.go_to_lesson(event.option.id)

    @on(OptionList.OptionSelected, "#steps")
    def _open_step(self, event: OptionList.OptionSelected) -> None:
        if step := self.course.catalog.step(event.option.id or ""):
            self.course.go_to(step)

    def action_steps(self) -> None:
        if self._listed_steps():
            self.add_class("-steps")
            self.call_after_refresh(self.steps.focus)
            self.refresh_bindings()

    def action_bookmark_step(self) -> None:
        option = self.steps.highlighted_option if self.steps.has_focus else None
        self.course.toggle_bookmark(self.course.catalog.step(option.id) if option and option.id else None)
        self._fill_lessons()
        self._fill_steps()
        if self.steps.has_focus and not self.steps.option_count:
            self.action_lessons()  # the last bookmark was taken away in the list of them

    def on_key(self, event: events.Key) -> None:
        numbers = [str(lesson.number) for lesson in self.course.catalog.lessons]
        if event.character in numbers:
            event.stop()
            self.action_lessons()
            self.lessons.highlighted = numbers.index(event.character)

    def action_lessons(self) -> None:
        self.remove_class("-steps")
        self.lessons.focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("steps", "lessons") and self.is_mounted:
            return self.steps.has_focus == (action == "lessons")
        return True


def bar(part: int, whole: int, cells: int, *, complete: bool) -> Content:
    """A bar of which as much is filled as the part is of the whole."""
    filled = min(cells * part // max(whole, 1), cells) or int(part > 0)
    return Content.assemble(
        ("━" * filled, "$text-success" if complete else "$text-primary"), ("─" * (cells - filled), "$foreground 60%")
    )


def _lesson_row(reached: LessonStanding, width: int) -> Content:
    lesson, complete = reached.lesson, reached.complete
    right = Content.assemble(
        bar(reached.points, lesson.points, BAR_CELLS, complete=complete),
        (f"{reached.points}/{lesson.points}".rjust(7), "$text-success" if complete else ""),
        (_(" points"), "$foreground 60%"),
    )
    number = (str(lesson.number), "bold $text-accent" if reached.begun else "$text-primary")
    mark = ("✓", "$text-success") if complete else number
    title_room = width - right.cell_length - 5
    title, *title_goes_on = Content.styled(lesson.title, "bold").wrap(max(title_room, 8))
    first = Content.assemble(mark, "  ", title.pad_right(title_room - title.cell_length), "  ", right)
    time = f"{lesson.minutes} min"
    promise_room = width - 3 - len(time) - 1
    goal = lesson.promise.removeprefix("You can ")
    lines = Content(goal[:1].upper() + goal[1:]).wrap(max(promise_room, 8))
    second = Content.assemble("   ", lines[0].pad_right(promise_room - lines[0].cell_length), " ", time)
    rest = [Content.assemble("   ", line) for line in lines[1:]]
    quiet = (line.stylize("$foreground 60%") for line in (second, *rest))
    return Content("\n").join([first, *(Content.assemble("   ", line) for line in title_goes_on), *quiet])


def _last_row(sign: str, title: str, right: str, width: int) -> Content:
    return Content.assemble(
        (sign, "$text-accent"),
        "  ",
        (title, "bold"),
        (right.rjust(max(width - 3 - Content(title).cell_length, 0)), "$foreground 60%"),
    )


def _step_row(step: Step, what: Done, number: str, width: int, *, marked: bool) -> Content:
    mark = {"done": ("✓ ", "$text-success"), "begun": ("◐ ", "$text-warning"), "new": ("○ ", "$foreground 60%")}
    points = f"  {what.points(step)}/{step.points}" if step.graded else ""
    kind = _(KIND_WORDS[step.kind])
    words = Content.assemble(
        (number, "$text-primary"),
        step.title,
        (f"  {kind}" if kind else "", "$text-accent"),
        (points, "$foreground 60%"),
        (f"  {BOOKMARK_SIGN}" if marked else "", "$text-accent"),
    )
    # As long as the list has no width, its rows have one line.
    lines = words.wrap(width) if width > 0 else [words]
    return Content.assemble(mark[what.state(step)], Content("\n  ").join(lines))
