"""The terminal app: which screen is shown, and the one program that may run at a time."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from textual import events
from textual.app import SystemCommand
from textual.binding import Binding
from textual.content import Content
from textual.reactive import var
from textual.screen import Screen
from textual.worker import Worker

from course.app.clipboard import Clipboard
from course.app.finding import Finding
from course.app.forget import forget_what_was_left
from course.app.leaving import Leaving
from course.app.line_breaks import keep_no_break_spaces
from course.app.looks import Looks
from course.app.screens.base import CourseScreen
from course.app.shows_runs import ShowsRuns
from course.app.speaking import Speaking
from course.app.turns import Turns
from course.app.type_ahead import taken
from course.progress import Progress
from course.report import gpu_in_words
from course.workspace import Workspace, WorkspaceError, write_atomically
from lab.language import N_, _

if TYPE_CHECKING:
    from textual.command import Provider
    from textual.document._history import EditHistory

    from course.app.grading import Grader
    from course.catalog import Catalog, Step

AT_MAP = "at_map"
TEXTUALS_OWN = ("Keys", "Maximize", "Minimize", "Theme")
"""Commands of Textual's that aren't offered: the help lists the keys, and our themes are commands themselves."""


class FailedRun(msgspec.Struct, frozen=True):
    """A run that couldn't even begin, in the form of a run's result."""

    message: str
    status: str = "crashed"
    exit_code: int | None = None
    duration_s: float = 0.0
    gpu: Any = None
    events: tuple[()] = ()


def _style_beside(cls: type, name: str) -> Path:
    """The style file that lies beside a class."""
    return Path(inspect.getfile(cls)).with_name(name)


def _commands() -> type[Provider]:
    from course.app.commands import CourseCommands

    return CourseCommands


class CourseApp(Speaking, ShowsRuns, Leaving, Finding, Looks, Clipboard):
    """Profile First in the terminal."""

    TITLE = "Profile First"
    COMMANDS = {_commands}  # noqa: RUF012
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (16, "-short"), (22, "-tall")]  # noqa: RUF012
    PAUSE_GC_ON_SCROLL = True
    BINDINGS: ClassVar = [
        Binding("ctrl+q", "quit", N_("Quit"), id="quit", priority=True, tooltip=N_("Leave; everything is kept")),
        Binding("ctrl+c", "help_quit", show=False, system=True),
    ]

    gpu_in_words: var[str] = var("")
    """The GPU in use, as the header says it."""

    def __init__(
        self, catalog: Catalog, workspace: Workspace, progress: Progress, make_grader: Callable[[], Grader]
    ) -> None:
        keep_no_break_spaces()
        self.catalog = catalog
        self.workspace = workspace
        self.progress = progress
        super().__init__(
            # With that of the first screen, which would otherwise have all rules worked out twice.
            css_path=[_style_beside(CourseApp, "app.tcss"), self._style_of_first_screen()],
            # Told so early, Textual leaves colours out; told later, it only turns them into greys.
            ansi_color=True if os.environ.get("NO_COLOR") else None,
        )
        self.turns = Turns(self._turn_changed)
        """What runs now, and what waits for it."""
        self.histories: dict[str, tuple[str, EditHistory, str | None]] = {}
        """What was typed in exercises that aren't shown, and how it came about, so that undo works there again.

        With it, where it could not be saved, the text of the file that it was to replace.
        """
        self._make_grader = make_grader
        self._grader: Grader | None = None
        self._told_problems: set[str] = set()
        self._grader_started: Worker[None] | None = None
        self.begin_to_look()
        self.set_reactive(CourseApp.gpu_in_words, self._gpu_before())

    # Beginning and end

    def _step_left(self) -> Step | None:
        """The step that was open last; None where it was the map."""
        place = self.progress.place() if self.progress.setting(AT_MAP) != "yes" else None
        return self.catalog.step(f"{place.lesson}/{place.step}") if place else None

    def _style_of_first_screen(self) -> Path:
        screen = self._screen_type(self._step_left())
        return _style_beside(screen, str(screen.CSS_PATH))

    def _first_screen(self) -> Screen[Any]:
        """The screen that was open last."""
        step = self._step_left()
        if step is not None and step.kind == "exercise":
            from course.app.screens.exercise import ExerciseScreen

            return ExerciseScreen(step, resumed=True)
        return self._screen_for(step)

    def on_mount(self) -> None:
        # Textual's own first screen stays below, empty: a first screen can't be switched for another one.
        self.push_screen(self._first_screen())
        self.theme_changed_signal.subscribe(self, lambda theme: self.keep_theme(theme.name))
        self.progress.on_problem = self._progress_problem
        if self.progress.notice:
            self.notify(self.progress.notice, severity="warning", timeout=15, markup=False)
        self.end_when_told()
        # The grader's process is started after the first frame, so that the app is there at once.
        self.call_after_refresh(self._start_grader)
        if self.first_traces:
            self.open_trace(self.first_traces, self.first_compared)

    def _progress_problem(self, message: str) -> None:
        if message not in self._told_problems:
            self._told_problems.add(message)
            self.notify(message, title=_("Progress isn't kept"), severity="error", timeout=15, markup=False)

    async def on_unmount(self) -> None:
        self.end_no_more_when_told()
        if self._grader is not None:
            with contextlib.suppress(Exception):
                await self._grader.close()

    # The GPU

    def _gpu_before(self) -> str:
        """The GPU of the last time, until the grader's process says which one it is now."""
        if os.environ.get("PROFILE_FIRST_GPU", "auto") == "auto" and (kept := self.progress.setting("gpu")):
            return kept
        return _("looking for a GPU…")

    def _start_grader(self) -> None:
        gc.enable()
        self._grader_started = self.run_worker(self._grader_work(), group="grader", exit_on_error=False)

    async def _grader_work(self) -> None:
        try:
            self._grader = self._make_grader()
            self._grader.on_ready = self._name_gpu
            await self._grader.start()
        except Exception as error:
            self.gpu_in_words = _("no grader")
            self.notify(
                _("{error}\n'profile-first doctor' says more.", error=error), severity="error", timeout=15, markup=False
            )
            raise

    def name_gpu_again(self) -> None:
        if self._grader is not None and self._grader.gpu is not None:
            self._name_gpu(self._grader.gpu)

    def _name_gpu(self, gpu: Any) -> None:
        self.gpu_in_words = gpu_in_words(gpu.kind, gpu.name)
        if os.environ.get("PROFILE_FIRST_GPU", "auto") == "auto":
            self.progress.set("gpu", self.gpu_in_words)

    def watch_gpu_in_words(self, words: str) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, CourseScreen) and screen.is_mounted:
                screen.header.gpu = words

    # Going from screen to screen

    def here(self, step: Step) -> None:
        """The learner is at this step now."""
        self.progress.move_to(step.lesson, step.name)
        self.attend(step.lesson)
        self.progress.set(AT_MAP, "no")

    def go_to(self, step: Step) -> None:
        """Show a step, on the screen that is there if it is of the right kind."""
        screen = self.screen
        if type(screen) is self._screen_type(step):
            screen.show(step)  # type: ignore[attr-defined]
        else:
            self._change_to(self._screen_for(step))

    def go_to_lesson(self, lesson_id: str) -> None:
        """Show a lesson where the learner stopped in it."""
        lesson, place = self.catalog.lesson(lesson_id), self.progress.place(lesson_id)
        if lesson:
            index = lesson.index(place.step) if place else None
            self.go_to(lesson.steps[index or 0])

    def go_after(self, step: Step) -> None:
        following = self.catalog.after(step)
        if following:
            self.go_to(following)
        else:
            self.go_to_course_recap()

    def go_before(self, step: Step) -> None:
        before = self.catalog.before(step)
        if before:
            self.go_to(before)
        else:
            self.go_home()

    def go_home(self) -> None:
        self.progress.set(AT_MAP, "yes")
        self.attend(None)
        self._change_to(self._screen_for(None))

    def go_to_course_recap(self) -> None:
        from course.app.screens.recap import CourseRecapScreen

        self.progress.set(AT_MAP, "yes")
        self._change_to(CourseRecapScreen())

    def _change_to(self, screen: Screen[Any]) -> None:
        self._leave_screens()
        while len(self.screen_stack) > 2:
            self.pop_screen()
        forget_what_was_left(self)
        self.switch_screen(screen)

    def _screen_type(self, step: Step | None) -> type[Screen[Any]]:
        """The kind of screen that shows a step; for None, the map."""
        # Each kind of screen is imported when it is first shown: the editor's grammar alone takes a fifth of a second.
        match step.kind if step is not None else None:
            case None:
                from course.app.screens.home import HomeScreen

                return HomeScreen
            case "card":
                from course.app.screens.lesson import LessonScreen

                return LessonScreen
            case "exercise":
                from course.app.screens.exercise import ExerciseScreen

                return ExerciseScreen
            case "quiz":
                from course.app.screens.quiz import QuizScreen

                return QuizScreen
            case "recap":
                from course.app.screens.recap import RecapScreen

                return RecapScreen

    def _screen_for(self, step: Step | None) -> Screen[Any]:
        made = self._screen_type(step)
        return made() if step is None else made(step)  # type: ignore[arg-type]

    # Running

    @property
    def job(self) -> str | None:
        """What runs now, or None."""
        return self.turns.running

    def _turn_changed(self) -> None:
        self.screen.refresh_bindings()

    def job_waits_for(self) -> str | None:
        """What is done before a job can begin: only the first one has to wait for PyTorch."""
        return _("Starting PyTorch") if self._grader is None or self._grader.gpu is None else None

    async def run_file(self, path: Path, on_output: Callable[[str], None]) -> Any:
        """Run a file with the GPU; the result says how it ended, also when it couldn't begin."""
        result = await self._do(lambda grader: grader.run(path, on_output))
        self.keep_run("run", path, result.gpu, result.events)
        return result

    async def run_card(self, step: Step, code: str, on_output: Callable[[str], None]) -> Any:
        """Run a card's code."""
        path = self.workspace.folder.parent / "cards" / step.lesson / f"{step.name}.py"
        try:
            write_atomically(path, code + "\n")
        except WorkspaceError as error:
            return FailedRun(str(error))
        return await self.run_file(path, on_output)

    async def check_file(self, exercise: str, path: Path) -> tuple[Any, Content]:
        """The verdict on a file, recorded; or None, and why there is none."""
        seen: list[Any] = []
        verdict = await self._do(lambda grader: grader.check(exercise, path, on_events=seen.extend))
        if isinstance(verdict, FailedRun):
            style = "$text-warning" if verdict.status == "cancelled" else "$text-error"
            return None, Content.styled(verdict.message, style)
        from course.app.grading import verdict_json

        self.progress.record(verdict_json(verdict))
        self.keep_run("check", path, verdict.gpu, seen)
        return verdict, Content("")

    async def _do(self, request: Callable[[Grader], Any]) -> Any:
        try:
            if self._grader_started is not None:
                await self._grader_started.wait()
            assert self._grader is not None
            return await request(self._grader)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            cancelled = type(error).__name__ == "Cancelled"
            if not cancelled and (self._grader is None or self._grader.gpu is None):
                self.gpu_in_words = _("GPU not available")
            return FailedRun(_("■ Stopped.") if cancelled else str(error), "cancelled" if cancelled else "crashed")

    def stop_job(self) -> None:
        """Let what waits not begin; if nothing does, stop what runs, whose result then says so."""
        if not self.turns.cancel_waiting() and self.job is not None and self._grader is not None:
            self.run_worker(self._grader.cancel(), group="cancel", exit_on_error=False)

    # Commands, keys, copying

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            await taken(self.focused)
        await super().on_event(event)

    def action_help(self) -> None:
        from course.app.screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        ours = (each for each in super().get_system_commands(screen) if each.title not in TEXTUALS_OWN)
        yield from self.in_our_words(ours)
        yield SystemCommand(_("Course map"), _("All lessons, and what was done of them"), self.go_home)
        yield from self.run_commands()
        yield from self.look_commands()
        yield from self.language_commands()
        yield SystemCommand(_("Course recap"), _("What the course taught, and all points"), self.go_to_course_recap)

    def get_key_display(self, binding: Binding) -> str:
        display = super().get_key_display(binding)
        if display == "esc":
            return "Esc"
        return display.upper() if display[0] == "f" and display[1:].isdigit() else display


def run_app(traces: Sequence[Path] = (), compare: bool = False) -> None:
    """Open the course where it was left, and show these traces on top, if there are any."""
    from course import catalog, progress, workspace
    from course.app.grading import real_grader

    with progress.at_home() as kept:
        app = CourseApp(catalog.load(), workspace.at_home(), kept, real_grader)
        app.first_traces, app.first_compared = tuple(traces), compare
        app.run()
