"""The part of the app that keeps runs and traces, and shows them in the timeline."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App, SystemCommand

from lab.language import _, ngettext

if TYPE_CHECKING:
    from course.app.kept_run import KeptRun
    from course.app.runs import Kind, SeenRun, SeenRuns, Shown
    from course.workspace import Workspace

READ_AT_ONCE = 2_000
"""A run with more events is read beside the app, so that its timeline opens at once."""


class ShowsRuns(App[None]):
    """Keeps the last runs of each file."""

    workspace: Workspace
    _keeping = threading.Lock()
    _to_keep: KeptRun | None = None
    first_traces: Sequence[Path] = ()
    """To be shown when the app opens."""
    first_compared: bool = False
    _runs: SeenRuns | None = None
    _left_nothing = False
    """Whether nothing is known of what ran last."""

    @property
    def runs(self) -> SeenRuns:
        """The runs that were seen; nothing of it is imported before the first one."""
        if self._runs is None:
            from course.app.runs import SeenRuns

            self._runs = SeenRuns()
        return self._runs

    @property
    def seen_run(self) -> SeenRun | None:
        """The last run of which is known what it did."""
        return self._runs.last if self._runs is not None else None

    def keep_run(self, kind: Kind, path: Path, gpu: Any, events: Sequence[Any]) -> None:
        """A run, or the first run of a check, has ended."""
        self._left_nothing = not events
        if not events:
            return
        seen = self.runs.keep(path.name, kind, str(path), gpu, events)
        self._keep_for_the_next_start(kind, path, gpu, events)
        if len(events) > READ_AT_ONCE:
            self.run_worker(seen.choices, thread=True, group="reading", exit_on_error=False)
        self.screen.refresh_bindings()

    def _keep_for_the_next_start(self, kind: Kind, path: Path, gpu: Any, events: Sequence[Any]) -> None:
        from course.app import kept_run

        on = kept_run.KeptGpu(gpu.kind, gpu.name) if gpu is not None else None
        self._to_keep = kept_run.KeptRun(path.name, kind, str(path), on, list(events))
        # Beside the app: it takes as long as the disk.
        self.run_worker(self._keep_the_newest, thread=True, group="keep", exit_on_error=False)

    def _keep_the_newest(self) -> None:
        from course.app import kept_run

        with self._keeping:  # whoever writes last then writes what ran last
            if self._to_keep is not None:
                kept_run.write(self._kept_file, self._to_keep)

    @property
    def _kept_file(self) -> Path:
        return self.workspace.folder.parent / "last-run.json"

    @cached_property
    def _is_one_kept(self) -> bool:
        """Whether there is a run of an earlier start to be shown, until it turns out that it can't be read."""
        return self._kept_file.is_file()

    def _earlier_run(self) -> SeenRun | None:
        """The last run of an earlier start."""
        from course.app import kept_run

        kept = kept_run.read(self._kept_file)
        if kept is None:
            self._is_one_kept = False
            self.notify(_("What is kept of the last run can't be read. Run it again with F5."), severity="warning")
            return None
        return self.runs.keep(kept.name, kept.kind, kept.key, kept.gpu, kept.events)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "timeline" or self.seen_run is not None or self._is_one_kept

    def action_timeline(self) -> None:
        """Show the last run over time."""
        if (run := self.seen_run or (self._earlier_run() if self._is_one_kept else None)) is not None:
            self.show_run(run)
            if self._left_nothing:
                said = _("Nothing was recorded of what ran last. This is {title}, from before.", title=run.title)
                self.notify(said, severity="warning", markup=False)

    def show_run(self, seen: SeenRun, before: SeenRun | None = None) -> None:
        """Show a run or a trace over time, with another one over it if there is one."""
        from course.app.screens.timeline import TimelineScreen

        if isinstance(self.screen, TimelineScreen):
            self.pop_screen()
        self.push_screen(TimelineScreen(seen, before))

    def open_trace(self, paths: Sequence[Path] = (), compare: bool = False) -> None:
        """Ask for a trace, or read these at once, and show it over time."""
        from course.app.screens.open_trace import OpenTraceScreen

        if not isinstance(self.screen, OpenTraceScreen):
            self.push_screen(OpenTraceScreen(paths, compare))

    def show_traces(self, names: Sequence[str], shown: Sequence[Shown], compare: bool) -> None:
        """Show what was read; of two to compare the first one is the one before."""
        if compare and len(shown) > 1:
            before = self.runs.keep_trace(names[0], shown[:1])
            self.show_run(self.runs.keep_trace(names[-1], shown[1:]), before)
        else:
            more = ngettext(" and {n} more", " and {n} more", len(names) - 1) if len(names) > 1 else ""
            self.show_run(self.runs.keep_trace(f"{names[0]}{more}", shown))

    def run_commands(self) -> Iterator[SystemCommand]:
        """What the palette offers."""
        yield SystemCommand(
            _("Open a trace…"), _("Show a trace file of any PyTorch program over time"), self.open_trace
        )
        if self.seen_run is not None or self._is_one_kept:
            yield SystemCommand(_("Timeline"), _("What the GPU did in the last run"), self.action_timeline)
