"""A step with the learner's own file in an editor, which keeps what was typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from textual import events, on
from textual.binding import Binding
from textual.content import Content

from course.app.screens.base import StepScreen
from course.app.widgets.editor import Editor, first_caret
from course.app.widgets.job import StatusLine
from course.progress import Caret
from course.workspace import ChangedElsewhere, WorkspaceError
from lab.language import N_, _

if TYPE_CHECKING:
    from course.catalog import Step

LOOK_S = 0.5
"""How often the file is looked at for changes by another program."""
SETTLE_S = 0.05
"""How long a file has to stay as it is before it is read: programs may write it in several parts."""
EDITOR_HINT = N_("Tab indents, Esc leaves the editor")
EDIT_HINT = N_("F3 edits")
FIND_HINT = N_("Enter goes on, F3 stays here, Esc goes back")
QUIET = "$foreground 60%"
UNKNOWN = "\0"
"""What no file has: nothing is saved over a file before it is decided which version stays."""
BOTH_CHANGED = N_("! Another program changed this file too: Ctrl+S asks which version stays")


class CodeScreen(StepScreen):
    """Loads the file of an exercise, saves what is typed, and shows what another program has saved meanwhile.

    Its body has an Editor, and a StatusLine below that with the id "editor-status".
    """

    BINDINGS = [  # noqa: RUF012
        Binding(
            "ctrl+f",
            "find",
            N_("Find"),
            id="find",
            priority=True,
            show=False,
            tooltip=N_("Find in your code, and replace; once more minds upper and lower case, or doesn't"),
        ),
        Binding(
            "ctrl+g",
            "edit_elsewhere",
            N_("Your editor"),
            id="edit.elsewhere",
            priority=True,
            show=False,
            tooltip=N_("Open your code in the editor that $VISUAL or $EDITOR names"),
        ),
    ]

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self._known: str | None = None
        """The learner's file as it was when last read or saved here; None where it can't be read."""
        self._shown = ""
        """What the editor showed of that: the same, but for line ends that the editor doesn't know."""
        self._theirs: bytes | None = None
        """What another program has saved in the file while there was something unsaved here."""
        self._stamp: tuple[int, int, int] | None = None
        """When the file was last read: its time, its size and its number, which a stat tells without reading."""
        self._settling: tuple[int, int, int] | None = None
        self._notice = ""
        self._not_saved = False
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
        return self._theirs is None and self.editor.text == self._shown

    @property
    def both_changed(self) -> bool:
        """Whether it is yet to be decided which version of the file stays."""
        return self._theirs is not None

    def keep_neither(self) -> None:
        """Both versions go: what the editor shows is backed up, the file is for the caller to back up."""
        self.course.workspace.back_up(self.step.id, self.editor.text)
        self._decided()

    def agree(self, then: Callable[[], None]) -> bool:
        """Take over what another program has saved, or save; whether the file then holds what the editor shows.

        If both have changed it, ask which version stays, and do `then` when that is decided.
        """
        self._take_over_changes()
        self.save()
        if self._theirs is not None:
            self.ask_which(then)
        return self.is_saved

    # Reading and saving

    def reload(self) -> None:
        """Show what the file has now, as one change that can be undone."""
        if self._known is None:
            self.load(None)
            return
        text = self.course.workspace.open(self.step.id)
        self.editor.take_over(text)
        self._knows(text)
        caret = first_caret(text)
        self.editor.move_cursor((caret.row, caret.column))

    def load(self, caret: Caret | None) -> None:
        """Show the step's file; or what was typed in it and isn't there yet."""
        workspace, step = self.course.workspace, self.step.id
        self._theirs, self._notice, self._not_saved = None, "", False
        try:
            self._stamp = workspace.stamp(step)
            text = workspace.open(step)
            draft = workspace.draft(step)
        except WorkspaceError as error:
            self._known = None
            self.editor.load("")
            self.editor.read_only = True
            self._tell(str(error), "$text-error")
            return
        if draft == text:
            workspace.drop_draft(step)
            draft = None
        typed, history, replaces = self.course.histories.pop(step, ("", None, None))
        editor = self.editor
        editor.read_only = False
        editor.load(text, caret or first_caret(text), history if typed == text else None)
        self._knows(text)
        unsaved = draft if replaces is None else typed
        if unsaved is not None:
            editor.take_over(unsaved)
            if draft is not None or replaces != text:
                self._known, self._theirs = UNKNOWN, text.encode()
        self.say_where()

    def _knows(self, text: str) -> None:
        """The file and the editor have this text."""
        self._known, self._shown = text, self.editor.text
        self._stamp = self.course.workspace.stamp(self.step.id)

    @on(Editor.Settled)
    def save(self) -> None:
        """Save the learner's text if it changed."""
        text, workspace, step = self.editor.text, self.course.workspace, self.step.id
        if self._known is None or self.editor.read_only:
            return
        if self._theirs is not None and text == self._shown and self._known != UNKNOWN:
            self._decided()  # what was typed here is undone
            self._take_over_changes()
        elif not self.is_saved or workspace.stamp(step) is None:
            if text == self._shown:
                text = self._known  # the file was deleted, or changed and changed back
            try:
                workspace.save(step, text, self._known)
            except ChangedElsewhere as changed:
                self._theirs = changed.theirs
                self._keep_draft(text)
                return
            except WorkspaceError as error:
                self._not_saved = True
                self.say_where()
                self.notify(str(error), severity="error", timeout=10, markup=False)
                return
            self._knows(text)
            self._decided()
        self._keep_caret()
        self.say_where()

    def _keep_draft(self, text: str) -> None:
        try:
            self.course.workspace.keep_draft(self.step.id, text)
            self._not_saved = False
        except WorkspaceError as error:
            self._not_saved = True
            self.notify(str(error), severity="error", timeout=10, markup=False)
        self.say_where()

    def _decided(self) -> None:
        self._not_saved = False
        if self._theirs is not None:
            self._theirs = None
            self.course.workspace.drop_draft(self.step.id)

    def ask_which(self, then: Callable[[], None] = lambda: None) -> None:
        """Ask whether the text here or the other program's stays; the one that doesn't is kept as a backup."""
        from course.app.screens.both_changed import BothChangedScreen

        def answered(kept: str | None) -> None:
            if kept is not None and self._keep(kept):
                then()

        if self._theirs is not None:
            theirs = self._theirs.decode(errors="backslashreplace")
            self.app.push_screen(BothChangedScreen(self.file_name, self.editor.text, theirs), answered)

    def _keep(self, which: str) -> bool:
        """Keep "mine" or "theirs"; whether that worked."""
        workspace, step, theirs, mine = self.course.workspace, self.step.id, self._theirs, self.editor.text
        try:
            if which == "mine":
                backup = workspace.back_up(step, workspace.path(step).read_bytes())
                workspace.save(step, mine, theirs)
                self._knows(mine)
            else:
                text = workspace.open(step)
                backup = workspace.back_up(step, mine)
                self.editor.take_over(text)
                self._knows(text)
        except ChangedElsewhere as changed:
            self._theirs = changed.theirs  # again, while it was asked
            return False
        except (WorkspaceError, OSError) as error:
            self.notify(str(error), severity="error", timeout=10, markup=False)
            return False
        self._decided()
        self.say(_("The other version is kept as {folder}/{file}", folder=backup.parent.name, file=backup.name))
        return True

    def _keep_caret(self) -> None:
        editor = self.editor
        row, column = editor.cursor_location
        x, y = editor.scroll_offset
        self.course.progress.keep_caret(self.step.id, Caret(row, column, int(x), int(y), self.pane))

    def leave(self) -> None:
        if self._known is not None:
            self.save()
            unsaved = self._not_saved and not self.is_saved
            self.course.histories[self.step.id] = (
                self.editor.text,
                self.editor.history,
                self._known if unsaved else None,
            )

    # Saying

    def retell(self) -> None:
        super().retell()
        self._notice = ""
        self.say_where()

    def say(self, notice: str) -> None:
        """Say something below the editor, until the text changes."""
        self._notice = notice
        self.say_where()

    @on(Editor.Changed)
    def _changed(self) -> None:
        for bar in self.query("FindBar"):
            bar.refresh_matches()  # type: ignore[attr-defined]
        if not self.is_saved:
            self._notice = ""
        self.say_where()

    @on(Editor.SelectionChanged)
    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def say_where(self) -> None:
        """Say below the editor how the file stands, where the caret is, and what is wrong there."""
        if self._known is None:
            return
        if self._not_saved:
            self._tell(_("NOT saved"), "bold $text-error")
        elif self._theirs is not None:
            self._tell(_(BOTH_CHANGED), "bold $text-warning")
        elif message := self.editor.marks.get(self.editor.cursor_location[0]):
            self._tell(f"✗ {message.splitlines()[0]}", "$text-error")
        elif self._notice:
            self._tell(self._notice)
        else:
            words, style = (_("Saved"), QUIET) if self.is_saved else (_("Typing…"), "$text-warning")
            row, column = self.editor.cursor_location
            hint = EDITOR_HINT if self.editor.has_focus else FIND_HINT if self.query("FindBar.-open") else EDIT_HINT
            self._tell(words, style, f"  ·  {row + 1}:{column + 1}  ·  {_(hint)}")

    def _tell(self, words: str, style: str = QUIET, more: str = "") -> None:
        line = self.query_one("#editor-status", StatusLine)
        line.text = Content.assemble((words, style), (more, QUIET))

    @property
    def has_selection(self) -> bool:
        """Whether there is something to copy."""
        in_editor = self.focused is self.editor and not self.editor.selection.is_empty
        return in_editor or bool(self.get_selected_text())

    def mark(self, marks: Mapping[int, str]) -> None:
        """Show at these rows what is wrong there."""
        self.editor.marks = marks
        self.say_where()

    # Finding, and editing elsewhere

    def show_code(self) -> None:
        """Bring the editor into view, with the focus."""
        self.editor.focus()

    async def action_find(self) -> None:
        from course.app.widgets.find_bar import FindBar

        bars = list(self.query(FindBar))
        if bars and bars[0].has_focus_within:
            bars[0].switch_case()
            return
        self.show_code()
        bar = bars[0] if bars else FindBar(self.editor)
        if not bars:
            await self.query_one("#work").mount(bar, before="#editor-status")
        bar.begin()

    def action_edit_elsewhere(self) -> None:
        import os

        from textual.app import SuspendNotSupported

        from course.app.external_editor import IN_BROWSER, EditorError, edit_elsewhere, editor_command

        if self.editor.read_only or not self.agree(then=self.action_edit_elsewhere):
            return
        path, problem = self.course.workspace.path(self.step.id), ""
        try:
            command = editor_command(os.environ, path, *self.editor.cursor_location)
            with self.app.suspend():
                edit_elsewhere(command)
        except SuspendNotSupported:
            problem = _(IN_BROWSER, path=path)
        except EditorError as error:
            problem = str(error)
        self._take_over_changes()
        if problem:
            self.notify(problem, severity="warning", timeout=10, markup=False)

    # Other programs

    def open(self) -> None:
        super().open()
        self.set_interval(LOOK_S, self._look)

    def on_app_focus(self) -> None:
        self._look()

    def on_screen_resume(self) -> None:
        if self._known is not None:
            self._take_over_changes()

    def _look(self) -> None:
        """See if another program has saved, and take it over once it has stopped writing."""
        stamp = self.course.workspace.stamp(self.step.id)
        if self._known is None or stamp is None or stamp == self._stamp:
            return
        if stamp == self._settling:
            self._take_over_changes()
        else:
            self._settling = stamp
            self.set_timer(SETTLE_S, self._look)

    def _take_over_changes(self) -> None:
        """Show what another program has saved, unless there is something unsaved here."""
        stamp = self.course.workspace.stamp(self.step.id)
        if self._known is None or not self.is_saved or stamp is None or stamp == self._stamp:
            return
        try:
            text = self.course.workspace.open(self.step.id)
        except WorkspaceError as error:
            self._stamp = stamp
            self.say(str(error))
            return
        self._stamp = stamp
        if text != self._known:
            self.editor.take_over(text)
            self._knows(text)
            self.say(_("Read again: another program changed it. Ctrl+Z goes back"))
