"""A step with the learner's own file in an editor, which keeps what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.content import Content

from course.app.screens.base import StepScreen
from course.app.widgets.editor import Editor, first_caret
from course.app.widgets.job import StatusLine
from course.progress import Caret
from course.workspace import WorkspaceError

if TYPE_CHECKING:
    from course.catalog import Step

LOOK_S = 1.0
"""How often the file is looked at for changes by another program."""
EDITOR_HINT = "Tab indents, Esc leaves the editor"


class CodeScreen(StepScreen):
    """Loads the file of an exercise, saves what is typed, and shows what another program has saved meanwhile.

    Its body has an Editor, and a StatusLine below that with the id "editor-status".
    """

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self._known: str | None = None
        """The learner's file as it was when last read or saved here; None where it can't be read."""
        self._stamp: tuple[int, int, int] | None = None
        """When the file was last looked at: its time, its size and its number, which a stat tells without reading."""
        self.pane = "task"
        """Which part of the screen is open; kept together with the caret."""

    @property
    def editor(self) -> Editor:
        return self.query_one(Editor)

    @property
    def file_name(self) -> str:
        return self.course.workspace.path(self.step.id).name

    @property
    def is_saved(self) -> bool:
        """Whether the file holds what the editor shows."""
        return self.editor.text == self._known

    def agree(self) -> bool:
        """Take over what another program has saved, or save; whether the file then holds what the editor shows."""
        self._take_over_changes()
        self.save()
        return self.is_saved

    def load(self, caret: Caret | None) -> None:
        """Show the step's file."""
        try:
            text = self.course.workspace.open(self.step.id)
        except WorkspaceError as error:
            self._known = None
            self.editor.load("")
            self.editor.read_only = True
            self._tell(str(error), "$text-error")
            return
        self._known = text
        self.editor.read_only = False
        self.editor.load(text, caret or first_caret(text))
        self._tell("Saved")

    def _tell(self, words: str, style: str = "$foreground 60%") -> None:
        row, column = self.editor.cursor_location
        hint = f"  ·  {EDITOR_HINT}" if self.editor.has_focus else "  ·  F3 edits"
        self.query_one("#editor-status", StatusLine).text = Content.assemble(
            (words, style), (f"  ·  {row + 1}:{column + 1}{hint}", "$foreground 60%")
        )

    @on(Editor.Settled)
    def save(self) -> None:
        """Save the learner's text if it changed."""
        text = self.editor.text
        if self._known is None or self.editor.read_only:
            return
        if text != self._known:
            try:
                backup = self.course.workspace.save(self.step.id, text, self._known)
            except WorkspaceError as error:
                self._tell("NOT saved", "bold $text-error")
                self.notify(str(error), severity="error", timeout=10, markup=False)
                return
            self._known = text
            if backup:
                self.notify(f"Another program had changed the file. Its version is kept as {backup}.", markup=False)
        self._keep_caret()
        self._tell("Saved")

    def _keep_caret(self) -> None:
        editor = self.editor
        row, column = editor.cursor_location
        x, y = editor.scroll_offset
        self.course.progress.keep_caret(self.step.id, Caret(row, column, int(x), int(y), self.pane))

    def leave(self) -> None:
        if self._known is not None:
            self.save()

    def unsaved(self) -> tuple[str, str] | None:
        if self._known is None or self.editor.read_only or self.is_saved:
            return None
        return self.file_name, self.editor.text

    @on(Editor.Changed)
    def _say_unsaved(self) -> None:
        if self._known is not None and not self.is_saved:
            self._tell("Typing…", "$text-warning")

    @on(Editor.SelectionChanged)
    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def say_where(self) -> None:
        """Say below the editor where the caret is."""
        if self._known is not None:
            self._tell("Saved" if self.is_saved else "Typing…")

    def open(self) -> None:
        super().open()
        self.set_interval(LOOK_S, self._take_over_changes)

    def on_app_focus(self) -> None:
        self._take_over_changes()

    def on_screen_resume(self) -> None:
        if self._known is not None:
            self._take_over_changes()

    def _take_over_changes(self) -> None:
        """Show what another editor has saved meanwhile, unless there is something unsaved here."""
        if self._known is None or not self.is_saved:
            return
        stamp = self.course.workspace.stamp(self.step.id)
        if stamp is None or stamp == self._stamp:
            return
        try:
            text = self.course.workspace.open(self.step.id)
        except WorkspaceError:
            return
        self._stamp = stamp
        if text != self._known:
            editor = self.editor
            row, column = editor.cursor_location
            self._known = text
            editor.load(text, Caret(row, column, editor.scroll_offset.x, editor.scroll_offset.y))
            self._tell("Read again")
            self.notify("The file was changed by another program: this is its new text.", timeout=4)
