"""What all screens of the course share: the header, the footer, and a notice where the terminal is too small."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Static

from course.app.finding import BOOKMARK, FINDING
from course.app.widgets.footer import CourseFooter
from course.app.widgets.header import CourseHeader
from course.app.widgets.plain import Plain
from lab.language import N_, _

if TYPE_CHECKING:
    from course.app.app import CourseApp
    from course.catalog import Step

TOO_SMALL = N_("The course needs 60 columns and 16 rows.\nMake the window larger; nothing is lost.")

TOO_SMALL_CLASSES = {"-tiny", "-flat"}

# On every screen without an editor, in which a question mark is text.
HELP = Binding("f1,question_mark", "app.help", N_("Help"), id="help")

# On every screen that runs programs.
TIMELINE = (
    Binding(
        "f10",
        "app.timeline",
        N_("Timeline"),
        priority=True,
        id="timeline",
        tooltip=N_("Show what the GPU did in the last run"),
    ),
    Binding(
        "t",
        "app.timeline",
        N_("Timeline"),
        show=False,
        id="timeline.letter",
        tooltip=N_("Show what the GPU did in the last run"),
    ),
)

# On every screen with code of the learner's. Each calls the screen's own action_solution.
SOLUTION = (
    Binding(
        "ctrl+d",
        "solution",
        N_("Solution"),
        priority=True,
        show=False,
        id="solution",
        tooltip=N_("Show a solution beside your code"),
    ),
    Binding(
        "d",
        "solution",
        N_("Solution"),
        show=False,
        id="solution.letter",
        tooltip=N_("Show a solution beside your code"),
    ),
)

# On every screen that shows output. Each calls the screen's own action_sideways.
SIDEWAYS = (
    Binding(
        "greater_than_sign,shift+right",
        "sideways(1)",
        N_("Scroll right"),
        show=False,
        id="output.sideways.right",
        tooltip=N_("Scroll wide output to the right"),
    ),
    Binding(
        "less_than_sign,shift+left",
        "sideways(-1)",
        N_("Scroll left"),
        show=False,
        id="output.sideways.left",
        tooltip=N_("Scroll wide output to the left"),
    ),
)


class CourseScreen(Plain, Screen[None]):
    """A full screen: header, body, footer."""

    EXPLAINS: ClassVar[str] = ""
    """What the screen is for, as the help shows it."""

    ESCAPE_TO_MINIMIZE = False
    BINDINGS: ClassVar = [*FINDING]
    _has_resumed = False

    def compose(self) -> ComposeResult:
        # Before there are widgets: told only when it is laid out, the screen would style all of them once more.
        self.add_class(*self._size_classes(self.app.size), update=False)
        yield CourseHeader()
        yield from self.body()
        yield CourseFooter()

    def on_mount(self) -> None:
        # An app that ends while a screen is being made mounts it without all of its widgets.
        if self.app.is_running:
            self.header.gpu = self.course.gpu_in_words  # it may have become known while the screen was made
            self.open()

    def open(self) -> None:
        """Fill the widgets for the first time."""

    def body(self) -> ComposeResult:
        """The widgets between header and footer."""
        yield from ()

    @on(events.ScreenResume)
    def _styled_already(self, event: events.ScreenResume) -> None:
        # What is shown for the first time was styled when its widgets were made.
        if not self._has_resumed:
            self._has_resumed, event.refresh_styles = True, False

    @on(events.Resize)
    def _say_if_too_small(self, event: events.Resize) -> None:
        if not TOO_SMALL_CLASSES.isdisjoint(self._size_classes(event.size)) and not self.query("#too-small"):
            self.mount(Static(_(TOO_SMALL), id="too-small", markup=False))

    def _size_classes(self, size: Size) -> list[str]:
        """The classes that Textual will give the screen for this size of the terminal."""
        width, height = size
        breakpoints = ((width, self.app.HORIZONTAL_BREAKPOINTS), (height, self.app.VERTICAL_BREAKPOINTS))
        return [max(each for each in least if each[0] <= extent)[1] for extent, least in breakpoints if least]

    def _compositor_refresh(self) -> None:
        # While several things change at once, Textual draws the whole screen for nothing: it isn't shown.
        if self.app._batch_count:
            self.refresh()
        else:
            super()._compositor_refresh()

    @property
    def course(self) -> CourseApp:
        """The app, as what it is."""
        return cast("CourseApp", self.app)

    @property
    def header(self) -> CourseHeader:
        return self.query_one(CourseHeader)

    def retell(self) -> None:
        """Say everything that is shown again, in another language."""
        for notice in self.query("#too-small").results(Static):
            notice.update(_(TOO_SMALL))
        self.refresh_bindings()

    def leave(self) -> None:
        """Called before another screen takes the place of this one, and before the app ends: keep everything."""


class StepScreen(CourseScreen):
    """A screen that shows one step of a lesson."""

    BINDINGS: ClassVar = [BOOKMARK]

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.step = step

    def open(self) -> None:
        self.show(self.step)

    def show(self, step: Step) -> None:
        """Show this step in place of the one before."""
        self.step = step
        self.say_place()
        self.course.here(step)

    def say_place(self) -> None:
        """Say in the header which lesson this is."""
        lesson = self.course.catalog.lesson(self.step.lesson)
        assert lesson is not None
        self.header.place = Content.assemble((f"{lesson.number}  ", "$text-accent"), (lesson.title, "bold"))

    def retell(self) -> None:
        self.step = self.course.catalog.step(self.step.id) or self.step
        self.say_place()
        super().retell()

    @property
    def step_of_steps(self) -> Content:
        """Where in the lesson this step is, as dots and in numbers."""
        lesson = self.course.catalog.lesson(self.step.lesson)
        assert lesson is not None
        at = lesson.index(self.step.name) or 0
        dots = "".join("━" if number <= at else "─" for number in range(len(lesson.steps)))
        return Content.assemble(
            (dots[: at + 1], "$text-primary"),
            (dots[at + 1 :], "$foreground 60%"),
            _("  {at} of {count}", at=at + 1, count=len(lesson.steps)),
        )

    def action_next_step(self) -> None:
        self.course.go_after(self.step)

    def action_previous_step(self) -> None:
        self.course.go_before(self.step)

    def action_to_map(self) -> None:
        self.course.go_home()
