"""Follows one run from its start to its end, and holds it to its limits."""

from __future__ import annotations

import codecs
import os
import secrets
import select
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Literal

import msgspec

from grader.errors import RunnerUnavailable
from grader.runner.cancellation import Cancellation
from grader.runner.descendants import descendants, file_slots, memory_bytes
from grader.runner.protocol import (
    BEGUN,
    Ended,
    Errand,
    Expect,
    Limits,
    Report,
    Request,
    Start,
    Started,
    Stop,
    Unable,
    read_report,
)
from grader.runner.warm_process import START_LIMIT_S, Lost, WarmProcess
from grader.verdict import Gpu
from lab.language import _

STOP_LIMIT_S = 15.0  # for a run to be stopped; then the warm process itself is taken to be stuck

LOOK_S = 0.25
"""How often the processes of a run that is shut in are counted."""
FEW_OPEN, MOST_OPEN = 64, 8192
"""Open files of a process that aren't counted, and those beyond of all processes.

What is sent through a socket and not received lies in the kernel's memory, at most 208 KiB for each, and no limit
counts it. With 150 processes that is at most (8192 + 150 * 64) * 208 KiB = 3.8 GB, and what is taken between two looks;
pipes have 64 MiB together, by fs.pipe-user-pages-soft.
"""
MANY_PROCESSES = 20
"""Of a run that doesn't end: more than a data loader's workers, and reached at once by forks without end."""

Stopping = Literal[
    "timeout", "too_much_output", "too_large_report", "too_many_processes", "too_much_memory", "cancelled"
]
End = Literal[Stopping, "ended", "lost"]


class Outcome(msgspec.Struct, frozen=True):
    """How a run ended. Without a report it did not succeed, whatever its exit code."""

    end: End  # "ended": by itself; "lost": with the warm process
    report: Report | None
    exit_code: int | None  # negative: the number of a signal; None: unknown
    output: str
    duration_s: float
    gpu: Gpu
    began: bool = True  # whether the learner's code could have been reached
    reached: bool = True  # whether the process came so far, as it told itself
    lost: str | None = None  # why the warm process went with it, so that the next run has to start a new one


def _open_beyond(processes: list[int]) -> int:
    return sum(max(file_slots(process) - FEW_OPEN, 0) for process in processes)


class Run:
    """One run: its pipes, its folder, and what has come out of it so far."""

    def __init__(
        self,
        warm: WarmProcess,
        gpu: Gpu,
        request: Request,
        limits: Limits,
        on_output: Callable[[str], None],
        stops: list[Cancellation],
    ) -> None:
        self.warm = warm
        self.request = request
        self.gpu = gpu
        self.limits = limits
        self.on_output = on_output
        self.stops = stops
        self.nonce = secrets.token_hex(16)
        self.folder = tempfile.mkdtemp(prefix="run-", dir=warm.runs)
        self.output_pipe, output_end = os.pipe()
        self.report_pipe, report_end = os.pipe()
        self.ends = [output_end, report_end]  # to be written to by the child
        self.open = {self.output_pipe, self.report_pipe}
        self.output: list[str] = []
        self.output_size = 0
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.report = bytearray()
        self.stopping: Stopping | None = None
        self.started = False
        self.ended: Ended | None = None
        self.began_s = monotonic()
        self.deadline_s = self.began_s + START_LIMIT_S
        self.look_s = self.began_s + LOOK_S

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self._close_ends()
        for pipe in (self.output_pipe, self.report_pipe):
            os.close(pipe)
        shutil.rmtree(self.folder, ignore_errors=True)

    def follow(self) -> Outcome:
        """Read until the run has ended and its pipes are dry, stopping it where it passes a limit."""
        lost = None
        try:
            self._send()
            while self.ended is None:
                self._step()
        except Lost as loss:
            lost = str(loss)
            self.warm.kill()
        # All writers are dead (or lost): what is left in the pipes is all there will be.
        duration_s = monotonic() - self.began_s
        self._read_rest()
        return self._outcome(lost, duration_s)

    def _send(self) -> None:
        """Hand the request and our pipes' other ends to the warm process."""
        request, layers = self.request, None
        if self.warm.shut_in:
            layers = self.warm.layers_inside
            if not isinstance(request, Expect):  # the names of folders are nobody else's business
                request = msgspec.structs.replace(request, path=str(Path(self.folder) / Path(request.path).name))
        real_gpu = self.gpu.kind == "real"
        order = Start(self.folder, self.limits.memory_bytes, self.limits.file_bytes, layers, real_gpu)
        try:
            with tempfile.TemporaryFile() as request_file:
                request_file.write(msgspec.json.encode(Errand(self.nonce, request)))
                request_file.seek(0)
                self.warm.send(order, [request_file.fileno(), *self.ends])
        except OSError as error:
            raise RunnerUnavailable(_("Your code can't be handed over: {reason}.", reason=error)) from error
        self._close_ends()  # so that the pipes end with their writers

    def _close_ends(self) -> None:
        while self.ends:
            os.close(self.ends.pop())

    def _step(self) -> None:
        control = self.warm.channel.fileno()
        watched = [control, *self.open]
        if self.stopping is None:
            watched += [stop.fileno() for stop in self.stops]
        patience_s = max(0.0, self.deadline_s - monotonic())
        arrived, _, _ = select.select(watched, [], [], min(patience_s, LOOK_S) if self.warm.shut_in else patience_s)
        if self.warm.shut_in and monotonic() >= self.look_s:
            self._look_at_processes()
        if any(stop.cancelled for stop in self.stops):
            self._stop("cancelled")
        if self.output_pipe in arrived:
            self._read_output()
        if self.report_pipe in arrived:
            self._read_report()
        if control in arrived:
            self._hear()
        if monotonic() >= self.deadline_s:
            if self.stopping is not None:
                raise Lost("It doesn't stop.")
            self._stop(self._why_it_goes_on())

    def _look_at_processes(self) -> None:
        """Limits of the kernel are for each process, or for each user; these are for all processes of a run."""
        self.look_s = monotonic() + LOOK_S
        processes = descendants(self.warm.process.pid)
        if len(processes) > self.limits.processes:
            self._stop("too_many_processes")
        elif sum(map(memory_bytes, processes)) > self.limits.memory_bytes or _open_beyond(processes) > MOST_OPEN:
            self._stop("too_much_memory")

    def _why_it_goes_on(self) -> Stopping:
        """How far what forks on or takes memory came, when its time is over, depends on the machine's load."""
        processes = descendants(self.warm.process.pid) if self.warm.shut_in else []
        if len(processes) > MANY_PROCESSES:
            return "too_many_processes"
        return "too_much_memory" if sum(map(memory_bytes, processes)) > self.limits.memory_bytes / 2 else "timeout"

    def _hear(self) -> None:
        for news in self.warm.news():
            if isinstance(news, Started):
                self.started = True
                if self.stopping is None:
                    self.began_s = monotonic()
                    self.deadline_s = self.began_s + self.limits.time_s
            elif isinstance(news, Ended):
                self.ended = news
            elif isinstance(news, Unable):
                raise Lost(news.message)

    def _stop(self, reason: Stopping) -> None:
        if self.stopping is None:
            self.stopping = reason
            self.deadline_s = monotonic() + STOP_LIMIT_S
            self.warm.send(Stop())

    def _read_output(self) -> None:
        data = self._read(self.output_pipe)
        room = self.limits.output_bytes - self.output_size
        self.output_size += len(data)
        if self.stopping != "too_much_output" and (text := self.decoder.decode(data[: max(0, room)])):
            self.output.append(text)
            self.on_output(text)
        if len(data) > room:
            self._stop("too_much_output")

    def _read_report(self) -> None:
        self.report += self._read(self.report_pipe)
        if len(self.report) > self.limits.report_bytes:
            self.report.clear()
            self._stop("too_large_report")

    def _read(self, pipe: int) -> bytes:
        data = os.read(pipe, 65536)
        if not data:
            self.open.discard(pipe)
        return data

    def _read_rest(self) -> None:
        """Empty the pipes. Where a process could get away, it may still be writing: not beyond the limit."""
        while self.open and self.output_size <= self.limits.output_bytes:
            arrived, _, _ = select.select(list(self.open), [], [], 0)
            if not arrived:
                return
            with suppress(Lost):
                if self.output_pipe in arrived:
                    self._read_output()
                if self.report_pipe in arrived:
                    self._read_report()

    def _outcome(self, lost: str | None, duration_s: float) -> Outcome:
        end: End = self.stopping or ("lost" if lost else "ended")
        whole = end == "ended" and self.ended is not None and self.ended.exit_code == 0
        return Outcome(
            end=end,
            report=read_report(bytes(self.report).removeprefix(BEGUN), self.nonce) if whole else None,
            exit_code=self.ended.exit_code if self.ended is not None else None,
            output="".join(self.output),
            duration_s=duration_s,
            gpu=self.gpu,
            began=self.started,
            reached=self.report.startswith(BEGUN),
            lost=lost,
        )
