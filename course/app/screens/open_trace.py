"""Asks for a trace file and reads it: with completion, progress, and a clear message where it can't be read."""

from __future__ import annotations

import asyncio
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from course.app.widgets.actions import ActionBar, ActionButton
from course.app.widgets.choice_list import ChoiceList
from lab.language import N_, _, number

if TYPE_CHECKING:
    from course.app.app import CourseApp

TRACES = (".json", ".json.gz")
MOST_LISTED = 200
MOST_FILES = 16
BAR_WIDTH = 30
ASKS = N_("A trace of torch.profiler, .json or .json.gz; several ranks with a pattern, such as traces/*.json.gz.")


class OpenTraceScreen(ModalScreen[None]):
    """The path of a trace, and then its reading."""

    CSS_PATH = "open_trace.tcss"
    EXPLAINS = N_("""\
The path of a trace that torch.profiler wrote with export_chrome_trace() or tensorboard_trace_handler(). The list shows
what begins like that: **↓** goes into it, **Enter** takes a folder or opens a file, **Tab** completes. `~` and patterns
such as `traces/*.json.gz` work; the files of a pattern are taken for the ranks of one run.

Reading a large trace takes a while: **Esc** stops it.
""")
    BINDINGS = [  # noqa: RUF012
        Binding("escape", "stop", N_("Close"), id="open.close", tooltip=N_("Stop reading, or go back"), priority=True),
        Binding("tab", "complete", N_("Complete"), id="open.complete", tooltip=N_("Complete the path"), priority=True),
        Binding("down", "to_list", N_("List"), show=False, id="open.list"),
    ]

    def __init__(self, paths: Sequence[Path] = (), compare: bool = False) -> None:
        """
        Args:
            paths: Read these at once.
            compare: They are two, before and after a change.
        """
        super().__init__()
        self._paths = list(paths)
        self._compare = compare
        self._reads = False

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(_(ASKS), id="question", markup=False)
            yield Input(
                ", ".join(map(str, self._paths)) or self._last_folder(), id="path", select_on_focus=False, compact=True
            )
            yield ChoiceList(id="files", markup=False)
            yield Static(id="told", markup=False)
            yield ActionBar(
                ActionButton(N_("Open"), "⏎", "open"), right=[ActionButton(N_("Close"), "Esc", "stop", id="close")]
            )

    def retell(self) -> None:
        """Say everything that is shown again, in another language."""
        self.query_one("#question", Static).update(_(ASKS))

    def on_mount(self) -> None:
        if self._paths:
            self._begin(self._paths)
        else:
            self.query_one(Input).cursor_position = len(self.query_one(Input).value)
            self._list()

    @property
    def course(self) -> CourseApp:
        return cast("CourseApp", self.app)

    def _last_folder(self) -> str:
        kept = self.course.progress.setting("trace_folder")
        folder = Path(kept) if kept and Path(kept).is_dir() else Path.cwd()
        return f"{folder}{os.sep}"

    # The path

    @on(Input.Changed)
    def _list(self) -> None:
        """What begins like the path."""
        if not self._reads:
            self._say("")
            self._fill_list(self.query_one(Input).value)

    @work(thread=True, exclusive=True, exit_on_error=False, group="listing")
    def _fill_list(self, typed: str) -> None:
        found = list(entries(typed))  # a folder on a network may take long to answer
        self.app.call_from_thread(self._show_entries, typed, found)

    def _show_entries(self, typed: str, found: list[str]) -> None:
        if self.is_mounted and typed == self.query_one(Input).value:
            files = self.query_one(ChoiceList)
            files.clear_options()
            files.add_options([Option(Content(shown_entry(each)), id=each) for each in found])

    def action_complete(self) -> None:
        """Complete the path as far as there is only one way."""
        typed = self.query_one(Input)
        if self._reads:
            return
        found = [option.id for option in self.query_one(ChoiceList).options if option.id]
        common = common_begin(found)
        if len(common) > len(expanded(typed.value)) or len(found) == 1:
            self._take(common)
        else:
            self.action_to_list()

    def _take(self, path: str) -> None:
        typed = self.query_one(Input)
        typed.value = path
        typed.cursor_position = len(path)
        typed.focus()

    def action_to_list(self) -> None:
        files = self.query_one(ChoiceList)
        if files.option_count and not self._reads:
            files.focus()
            files.highlighted = files.highlighted or 0

    @on(ChoiceList.OptionSelected)
    def _chosen(self, event: ChoiceList.OptionSelected) -> None:
        path = event.option.id or ""
        if path.endswith(os.sep):
            self._take(path)
        else:
            self._take(path)
            self.action_open()

    @on(Input.Submitted)
    def action_open(self) -> None:
        if self._reads:
            return
        typed = expanded(self.query_one(Input).value.strip())
        if not typed:
            self._say(_("Type the path of a trace."), wrong=True)
            return
        is_pattern = glob.has_magic(typed) and not Path(typed).exists()
        # Path.glob takes no absolute pattern.
        paths = [Path(each) for each in sorted(glob.glob(typed))] if is_pattern else [Path(typed)]  # noqa: PTH207
        if not paths:
            self._say(_("No file is like that."), wrong=True)
        elif len(paths) > MOST_FILES:
            self._say(
                _("These are {count} files; at most {most} can be shown together.", count=len(paths), most=MOST_FILES),
                wrong=True,
            )
        else:
            self._begin(paths)

    # Reading

    def _begin(self, paths: list[Path]) -> None:
        self._reads = True
        self.query_one(Input).disabled = True
        self.query_one(ChoiceList).display = False
        self._read(paths)

    @work(exclusive=True, group="trace", exit_on_error=False)
    async def _read(self, paths: list[Path]) -> None:
        from course.app.traces import TracesUnread, read_traces

        try:
            shown, notes = await read_traces(paths, self._tell)
        except TracesUnread as error:
            self._ended(str(error))
            return
        except (OSError, ValueError, asyncio.IncompleteReadError) as error:
            self._ended(_("The trace can't be shown: {error}.", error=error))
            return
        self.course.progress.set("trace_folder", str(paths[0].absolute().parent))
        for note in notes:
            self.app.notify(note, severity="warning", timeout=15, markup=False)
        self.dismiss()
        self.course.show_traces([path.name for path in paths], shown, self._compare)

    def _tell(self, words: str, share: float | None) -> None:
        bar = ""
        if share is not None:
            full = int(share * BAR_WIDTH)
            bar = f"  {'█' * full}{'░' * (BAR_WIDTH - full)} {number(share, '4.0%')}"
        self.query_one("#told", Static).update(f"{words}{bar}")

    def _ended(self, message: str) -> None:
        self._reads = False
        typed = self.query_one(Input)
        typed.disabled = False
        self.query_one(ChoiceList).display = True
        typed.focus()
        self._fill_list(typed.value)
        self._say(message, wrong=True)

    def _say(self, message: str, wrong: bool = False) -> None:
        told = self.query_one("#told", Static)
        told.update(Content.styled(f"✗ {message}", "$text-error") if wrong else message)

    def action_stop(self) -> None:
        """Stop reading; when nothing is read, go back."""
        if self._reads:
            self.workers.cancel_group(self, "trace")
            self._ended(_("Stopped."))
        else:
            self.dismiss()


def expanded(typed: str) -> str:
    """The path with the home folder in place of `~`; its last character stays."""
    if not typed.startswith("~"):
        return typed
    home, slash, rest = typed.partition(os.sep)
    try:
        return f"{Path(home).expanduser()}{slash}{rest}"
    except RuntimeError:  # nobody has that name
        return typed


def entries(typed: str) -> Iterator[str]:
    """Folders and traces that begin with what was typed, folders first; hidden ones only if that was typed."""
    path = expanded(typed)
    folder, _slash, begin = path.rpartition(os.sep)
    folder = path[: len(path) - len(begin)]
    try:
        with os.scandir(folder or ".") as found:
            named = sorted(found, key=lambda entry: entry.name.lower())
    except (OSError, ValueError):
        return
    folders, files = [], []
    for entry in named:
        if not entry.name.startswith(begin) or (entry.name.startswith(".") and not begin.startswith(".")):
            continue
        try:
            is_folder = entry.is_dir()
        except OSError:
            continue
        if is_folder:
            folders.append(f"{folder}{entry.name}{os.sep}")
        elif entry.name.endswith(TRACES):
            files.append(f"{folder}{entry.name}")
    yield from [*folders, *files][:MOST_LISTED]


def common_begin(texts: Sequence[str]) -> str:
    """The letters with which all of them begin."""
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    same = (number for number, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(same, min(len(first), len(last)))]


def shown_entry(path: str) -> str:
    """The last part of a path, without what a terminal would obey."""
    from course.report import printable

    name = path.rstrip(os.sep).rpartition(os.sep)[2] + (os.sep if path.endswith(os.sep) else "")
    return printable(name.encode("utf-8", "replace").decode())
