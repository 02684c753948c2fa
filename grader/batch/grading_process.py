"""A process that checks one file after another for a class, and is started again when it is lost."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import IO

import msgspec

from grader.errors import GraderError, RunnerUnavailable
from grader.messages import Answered, CheckDone, CheckFile, NotDone, ServiceReady
from grader.runner.descendants import descendants, end_others
from grader.verdict import Gpu, Verdict
from lab.language import _, current, ngettext, passed_on

PACKAGES = Path(__file__).parents[2]
START_LIMIT_S = 240.0
CHECK_LIMIT_S = 900.0
"""Each run within a check has a limit of its own; this one is for a grader that hangs."""
END_LIMIT_S = 10.0

_decoder: msgspec.json.Decoder[Answered] = msgspec.json.Decoder(Answered)


class ProcessLost(Exception):
    """The process ended, or did not answer, while it checked a file; the message says which."""


class ProcessHangs(ProcessLost):
    """It would do so again, so that nobody should wait for it twice."""


class GradingProcess:
    """Speaks to a grader.service. For one thread at a time."""

    def __init__(
        self,
        *,
        shut_in: bool = True,
        bubble: str | None = None,
        longest_run_s: float | None = None,
        command: Sequence[str] | None = None,
    ) -> None:
        options = [*(["--shut-in"] if shut_in else []), *(["--bubble", bubble] if bubble is not None else [])]
        options += ["--longest-run", str(longest_run_s)] if longest_run_s is not None else []
        self._command = list(command or [sys.executable, "-m", "grader.service"]) + options
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._heard = b""
        self._next_id = 0
        self.gpu: Gpu | None = None
        self.layers: list[str] = []

    def __enter__(self) -> GradingProcess:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def start(self) -> None:
        """Start it and wait until it can check; raises RunnerUnavailable with the reason where it can't."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=PACKAGES,
            env=passed_on(),
            start_new_session=True,
        )
        self._heard = b""
        try:
            answer = self._answer(START_LIMIT_S)
        except ProcessLost as lost:
            raise RunnerUnavailable(str(lost)) from None
        if isinstance(answer, ServiceReady):
            self.gpu, self.layers = answer.gpu, answer.layers
        elif isinstance(answer, NotDone):
            self.close()
            raise RunnerUnavailable(answer.message)

    def check(self, exercise: str, path: Path, seed: int, language: str | None = None) -> Verdict:
        """The verdict on a file; raises GraderError where the grader failed, ProcessLost where its process did."""
        self.start()
        self._next_id += 1
        self._send(CheckFile(self._next_id, exercise, str(path), seed, events=False, language=language or current()))
        give_up_s = monotonic() + CHECK_LIMIT_S
        while True:
            answer = self._answer(give_up_s - monotonic())
            if isinstance(answer, CheckDone) and answer.id == self._next_id:
                return answer.verdict
            if isinstance(answer, NotDone) and answer.id == self._next_id:
                raise GraderError(answer.message)

    def _send(self, asked: CheckFile) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(asked) + b"\n")
            self._process.stdin.flush()
        except OSError:
            told = self._last_words()
            self.kill()
            raise ProcessLost(told) from None

    def _answer(self, limit_s: float) -> Answered:
        assert self._process is not None
        assert self._process.stdout is not None
        give_up_s = monotonic() + limit_s
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._heard:
            if not select.select([descriptor], [], [], max(0.0, give_up_s - monotonic()))[0]:
                self.kill()
                raise ProcessHangs(
                    ngettext(
                        "The grader did not answer within {n} second.",
                        "The grader did not answer within {n} seconds.",
                        round(limit_s),
                    )
                )
            data = os.read(descriptor, 1 << 16)
            if not data:
                told = self._last_words()
                self.kill()
                raise ProcessLost(told)
            self._heard += data
        line, _newline, self._heard = self._heard.partition(b"\n")
        try:
            return _decoder.decode(line)
        except msgspec.DecodeError:
            self.kill()
            raise ProcessLost(_("The grader answered with something unreadable.")) from None

    def _last_words(self) -> str:
        words = ""
        if self._errors is not None:
            self._errors.seek(0)
            lines = self._errors.read()[-4000:].decode(errors="replace").strip().splitlines()
            words = " " + _("Its last words: {words}", words=lines[-1]) if lines else ""
        return _("The grader's process ended unexpectedly.") + words

    def kill(self) -> None:
        """End it at once, with all that it started; the next check starts another one."""
        process = self._process  # which the thread that waits for its answer forgets as soon as it ends
        if process is not None:
            left = descendants(process.pid)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            end_others(lambda: left)
            process.wait()
        self._forget()

    def close(self) -> None:
        """End it in order: it ends what it runs."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
            try:
                self._process.wait(END_LIMIT_S)
            except subprocess.TimeoutExpired:
                self.kill()
        self._forget()

    def _forget(self) -> None:
        process = self._process
        if process is not None and process.stdout is not None:
            process.stdout.close()
        if self._errors is not None:
            self._errors.close()
        self._process, self._errors = None, None
