"""Checks files again each time that they are saved."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course import catalog, names, progress, workspace
from course.progress import ProgressError
from course.report import Ink, verdict_in_words
from course.saves import Saves
from course.workspace import Workspace
from grader.check import check
from grader.errors import Cancelled, GraderError
from grader.runner.cancellation import Cancellation
from grader.runner.warm import WarmRunner
from grader.verdict import Verdict, to_plain
from lab.language import _, ngettext

TICK_S = 0.5


def watch(what: Sequence[str], *, exercise: str | None, poll: bool, as_json: bool) -> int:
    """Check these exercises and files now and whenever they are saved; without any, all exercises once they are."""
    lessons, own = catalog.load(), workspace.at_home()
    if exercise is not None:
        names.graded_step(exercise, lessons)
    targets: dict[Path, list[str]] = {}
    for name in what:
        for each, path in names.to_check(name, lessons, own, exercise, begin=True):
            targets.setdefault(path.absolute(), []).append(each)
    first = list(targets)
    if not what:
        for step in lessons.graded():
            path = own.answers_path(step.lesson) if step.kind == "quiz" else own.path(step.id)
            path.parent.mkdir(parents=True, exist_ok=True)
            targets[path.absolute()] = [step.id]
    with WarmRunner() as runner:
        shown = (
            ngettext("{n} file", "{n} files", len(first))
            if len(first) > 1
            else first[0]
            if first
            else _("all exercises in {folder}", folder=own.folder)
        )
        runs_code = any(not each.endswith("/quiz") for found in targets.values() for each in found)
        Watch(targets, own, runner, as_json=as_json).go_on(first, str(shown), poll=poll, warm=runs_code)
    return 0


class Watch:
    """The files that were saved and not checked yet, and the one that is being checked."""

    def __init__(
        self,
        targets: dict[Path, list[str]],
        own: Workspace,
        runner: WarmRunner,
        *,
        as_json: bool,
    ) -> None:
        self._targets = targets
        self._own = own
        self._runner = runner
        self._as_json = as_json
        self._ink = Ink(sys.stdout)
        self._saved: dict[Path, float] = {}
        self._something_saved = threading.Condition()
        self._checked: Path | None = None
        self._cancellation = Cancellation()

    def go_on(self, first: Sequence[Path], watched: str, *, poll: bool, warm: bool) -> None:
        """Say what is watched, check `first`, then each that is saved, for ever; `warm` starts PyTorch before."""
        saves = Saves(list(self._targets), self._save, poll=poll, tell=_say)
        # Not before it is known how the files are now: whoever reads it and saves waits for the check.
        _say(_("watching {shown}. Save in any editor to check; Ctrl+C ends this.", shown=watched))
        saves.start()
        try:
            if warm:
                self._runner.warm_up()
            for path in first:
                self._save(path, time.monotonic())
            while True:
                self._check(*self._next())
        finally:
            saves.end()

    def _save(self, path: Path, noticed_s: float) -> None:
        """A file was saved: what is being checked of it is out of date."""
        with self._something_saved:
            self._saved.setdefault(path, noticed_s)
            if path == self._checked:
                self._cancellation.cancel()
            self._something_saved.notify()

    def _next(self) -> tuple[Path, float]:
        with self._something_saved:
            self._checked = None
            while not self._saved:
                self._something_saved.wait(TICK_S)  # without a limit, some systems don't let Ctrl+C through
            path = next(iter(self._saved))
            self._checked, self._cancellation = path, Cancellation()
            return path, self._saved.pop(path)

    def _check(self, path: Path, noticed_s: float) -> None:
        for exercise in self._targets[path]:
            try:
                verdict = check(exercise, path, runner=self._runner, cancellation=self._cancellation)
            except Cancelled:
                return  # its newer version is the next one
            except (GraderError, OSError) as error:
                _say(str(error))
                return
            self._tell(verdict, path, time.monotonic() - noticed_s)
            if names.is_own(path, exercise, self._own):
                _record(verdict)

    def _tell(self, verdict: Verdict, path: Path, took_s: float) -> None:
        plain = to_plain(verdict)
        split = {"total_s": round(took_s, 3), "program_s": round(verdict.program_s, 3)}
        split["else_s"] = round(max(took_s - verdict.program_s, 0.0), 3)
        if self._as_json:
            line: dict[str, Any] = {"path": str(path), **split, "verdict": plain}
            print(json.dumps(line, ensure_ascii=False), flush=True)
            return
        print(f"\n{self._ink.quiet(time.strftime('%H:%M:%S'))}", *verdict_in_words(plain, path, self._ink), sep="\n")
        print(
            self._ink.quiet(
                "  "
                + _(
                    "{total_s:.2f} s after it was saved: {program_s:.2f} s for the program to run, "
                    "{else_s:.2f} s for everything else",
                    **split,
                )
            ),
            flush=True,
        )


def _record(verdict: Verdict) -> None:
    """Keep the points, if they can be kept: a full disk is no reason to end."""
    try:
        with progress.at_home() as kept:
            if kept.notice:
                _say(kept.notice)
            kept.record(to_plain(verdict))
    except ProgressError as error:
        _say(str(error))


def _say(text: str) -> None:
    print(_("profile-first: {notice}", notice=text), file=sys.stderr, flush=True)
