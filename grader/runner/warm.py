"""The trusted side of a run: starts the warm process, has it run learner code, and holds the run to its limits."""

from __future__ import annotations

import codecs
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import IO, Literal

import msgspec

from grader.errors import Cancelled, RunnerUnavailable
from grader.runner.cancellation import Cancellation
from grader.runner.descendants import descendants, end_others, kill, marked
from grader.runner.protocol import (
    Channel,
    Ended,
    Errand,
    Limits,
    News,
    Order,
    Ready,
    Report,
    Request,
    Start,
    Started,
    Stop,
    Unable,
    read_news,
    read_report,
)
from grader.verdict import Gpu

MARK = "PROFILE_FIRST_RUNNER"  # in the environment of everything that a warm process starts
PACKAGES = Path(__file__).parents[2]
START_LIMIT_S = 180.0  # importing torch from a cold disk on a busy machine
STOP_LIMIT_S = 15.0  # then the warm process itself is taken to be stuck

End = Literal["ended", "timeout", "too_much_output", "too_large_report", "cancelled", "lost"]
Stopping = Literal["timeout", "too_much_output", "too_large_report", "cancelled"]


class Outcome(msgspec.Struct, frozen=True):
    """How a run ended. Without a report it did not succeed, whatever its exit code."""

    end: End  # "ended": by itself; "lost": with the warm process
    report: Report | None
    exit_code: int | None  # negative: the number of a signal; None: unknown
    output: str
    duration_s: float
    gpu: Gpu
    lost: bool = False  # the warm process went with it, and the next run will start a new one


def _ignore(_: str) -> None:
    return


class WarmRunner:
    """Runs submissions one at a time, each in a process of its own. Safe to use from several threads."""

    def __init__(
        self,
        *,
        equipment: str = "grader.runner.equipment",
        environment: Mapping[str, str] | None = None,
        fresh: bool = False,
    ) -> None:
        self._equipment = equipment
        self._environment = environment or {}
        self._fresh = fresh
        self._turn = threading.Lock()
        self._warm: _WarmProcess | None = None
        self._closing = Cancellation()
        self.restarts = 0  # how often the warm process was lost

    def __enter__(self) -> WarmRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the warm process without waiting for it."""
        with self._turn:
            self._process()

    def warm_up(self) -> Gpu:
        """Wait until runs can start; tells which GPU they will have."""
        with self._turn:
            return self._ready_process([self._closing]).gpu

    @property
    def gpu(self) -> Gpu | None:
        """The GPU in use, once the warm process has told."""
        return self._warm.ready_gpu if self._warm is not None else None

    def run(
        self,
        request: Request,
        limits: Limits | None = None,
        on_output: Callable[[str], None] = _ignore,
        cancellation: Cancellation | None = None,
    ) -> Outcome:
        """Run a submission to its end or its limit, passing on its output as it comes. Nothing of it stays running.

        Raises RunnerUnavailable when no run can be started, and Cancelled when it was cancelled before it started.
        """
        stops = [self._closing] if cancellation is None else [self._closing, cancellation]
        with self._turn:
            outcome = self._run_once(request, limits or Limits(), on_output, stops)
            if outcome is None:  # the warm process had ended before the run began
                outcome = self._run_once(request, limits or Limits(), on_output, stops)
            if outcome is None:
                raise RunnerUnavailable("The process that runs your code ended twice before it began. Try again.")
            return outcome

    def _run_once(
        self, request: Request, limits: Limits, on_output: Callable[[str], None], stops: list[Cancellation]
    ) -> Outcome | None:
        """One attempt; None if the warm process was lost before the learner's code could begin."""
        ready = self._ready_process(stops)
        try:
            with _begun(ready, request, limits, on_output, stops) as run:
                outcome = run.follow()
        except _Lost:
            self._lose_process()
            return None
        except BaseException:  # interrupted, or nobody takes the output: the run must not go on
            self._lose_process()
            raise
        if outcome.lost:
            self._lose_process()
        return outcome if run.started or outcome.end != "lost" else None

    def close(self) -> None:
        """End the warm process and whatever runs."""
        self._closing.cancel()
        with self._turn:
            if self._warm is not None:
                self._warm.end()
                self._warm = None

    def _process(self) -> _WarmProcess:
        if self._closing.cancelled:
            raise RunnerUnavailable("The runner is closed.")
        if self._warm is not None and not self._warm.alive():
            self._lose_process()
        if self._warm is None:
            try:
                self._warm = _WarmProcess(self._equipment, self._environment, self._fresh)
            except OSError as error:
                raise RunnerUnavailable(f"No process can be started for your code: {error}.") from error
        return self._warm

    def _ready_process(self, stops: list[Cancellation]) -> _ReadyProcess:
        warm = self._process()
        try:
            return _ReadyProcess(warm, warm.wait_ready(stops))
        except _Lost as lost:
            self._lose_process()
            raise RunnerUnavailable(str(lost)) from None

    def _lose_process(self) -> None:
        if self._warm is not None:
            self._warm.kill()
            self._warm = None
            self.restarts += 1


class _Lost(Exception):
    """The warm process ended or doesn't answer."""


class _WarmProcess:
    def __init__(self, equipment: str, environment: Mapping[str, str], fresh: bool) -> None:
        ours, theirs = socket.socketpair()
        self.channel = Channel(ours)
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self.ready_gpu: Gpu | None = None
        self.mark = secrets.token_hex(16)
        options = ["--control", str(theirs.fileno()), "--equipment", equipment, *(["--fresh"] if fresh else [])]
        quiet = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "KINETO_LOG_LEVEL": "99"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "grader.runner.zygote", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            pass_fds=[theirs.fileno()],
            cwd=PACKAGES,  # not the learner's folder, where a torch.py might lie
            env={**os.environ, **quiet, **environment, MARK: self.mark},
            start_new_session=True,
        )
        theirs.close()

    def alive(self) -> bool:
        return self.process.poll() is None

    def wait_ready(self, stops: list[Cancellation]) -> Gpu:
        give_up_s = monotonic() + START_LIMIT_S
        while self.ready_gpu is None:
            if any(stop.cancelled for stop in stops):
                raise Cancelled("Cancelled before it started.")
            watched = [self.channel.fileno(), *(stop.fileno() for stop in stops)]
            arrived, _, _ = select.select(watched, [], [], max(0.0, give_up_s - monotonic()))
            if not arrived:
                raise _Lost(f"PyTorch did not start within {START_LIMIT_S:.0f} seconds. Is the machine very busy?")
            if self.channel.fileno() in arrived:
                self._hear_start()
        return self.ready_gpu

    def _hear_start(self) -> None:
        for news in self.news():
            if isinstance(news, Unable):
                raise _Lost(f"Your code can't be run: {news.message}")
            if isinstance(news, Ready):
                self.ready_gpu = news.gpu

    def news(self) -> Iterator[News]:
        received = self.channel.receive()
        if received is None:
            raise _Lost(f"The process that runs your code ended unexpectedly.{self.last_words()}")
        for line in received[0]:
            try:
                yield read_news(line)
            except msgspec.DecodeError:
                raise _Lost("The process that runs your code answered with something unreadable.") from None

    def last_words(self) -> str:
        """The end of what the warm process wrote to its stderr."""
        self.errors.seek(0)
        lines = self.errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        return f" Its last words: {lines[-1]}" if lines else ""

    def end(self) -> None:
        """Hang up, upon which it ends its run and then itself; kill it if it doesn't."""
        if self.ready_gpu is None:  # nothing runs yet, and it can't hear while it imports torch
            self.kill()
            return
        self.channel.close()
        try:
            self.process.wait(timeout=STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self.errors.close()

    def kill(self) -> None:
        """Kill it and whatever it has started, also what it can no longer look after itself."""
        self.channel.close()
        if self.alive():
            kill(self.process.pid, signal.SIGSTOP)
            left = descendants(self.process.pid)
            end_others(lambda: left)
        self.process.kill()
        self.process.wait()
        end_others(lambda: marked(MARK, self.mark))
        self.errors.close()


class _ReadyProcess:
    """A warm process that has told which GPU it has."""

    def __init__(self, warm: _WarmProcess, gpu: Gpu) -> None:
        self.warm = warm
        self.gpu = gpu

    def send(self, order: Order, files: list[int] | None = None) -> None:
        try:
            self.warm.channel.send(order, files)
        except OSError:
            raise _Lost("The process that runs your code is gone.") from None


class _Run:
    """One run: its pipes, its folder, and what has come out of it so far."""

    def __init__(
        self,
        ready: _ReadyProcess,
        request: Request,
        limits: Limits,
        on_output: Callable[[str], None],
        stops: list[Cancellation],
    ) -> None:
        self.ready = ready
        self.limits = limits
        self.on_output = on_output
        self.stops = stops
        self.nonce = secrets.token_hex(16)
        self.folder = tempfile.mkdtemp(prefix="profile-first-")
        self.output_pipe, output_end = os.pipe()
        self.report_pipe, report_end = os.pipe()
        self.open = {self.output_pipe, self.report_pipe}
        self.output: list[str] = []
        self.output_size = 0
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.report = bytearray()
        self.stopping: Stopping | None = None
        self.started = False
        self.ended: Ended | None = None
        try:
            with tempfile.TemporaryFile() as request_file:
                request_file.write(msgspec.json.encode(Errand(self.nonce, request)))
                request_file.seek(0)
                order = Start(self.folder, limits.memory_bytes, limits.file_bytes)
                ready.send(order, [request_file.fileno(), output_end, report_end])
        except BaseException:
            self.__exit__()
            raise
        finally:
            os.close(output_end)
            os.close(report_end)
        self.began_s = monotonic()
        self.deadline_s = self.began_s + START_LIMIT_S

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in (self.output_pipe, self.report_pipe):
            os.close(pipe)
        shutil.rmtree(self.folder, ignore_errors=True)

    def follow(self) -> Outcome:
        """Read until the run has ended and its pipes are dry, stopping it where it passes a limit."""
        lost = False
        try:
            while self.ended is None:
                self._step()
        except _Lost:
            lost = True
            self.ready.warm.kill()
        # All writers are dead (or lost): what is left in the pipes is all there will be.
        duration_s = monotonic() - self.began_s
        self._read_rest()
        return self._outcome(lost, duration_s)

    def _step(self) -> None:
        control = self.ready.warm.channel.fileno()
        watched = [control, *self.open]
        if self.stopping is None:
            watched += [stop.fileno() for stop in self.stops]
        arrived, _, _ = select.select(watched, [], [], max(0.0, self.deadline_s - monotonic()))
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
                raise _Lost("It doesn't stop.")
            self._stop("timeout")

    def _hear(self) -> None:
        for news in self.ready.warm.news():
            if isinstance(news, Started):
                self.started = True
                if self.stopping is None:
                    self.began_s = monotonic()
                    self.deadline_s = self.began_s + self.limits.time_s
            elif isinstance(news, Ended):
                self.ended = news
            elif isinstance(news, Unable):
                raise _Lost(news.message)

    def _stop(self, reason: Stopping) -> None:
        if self.stopping is None:
            self.stopping = reason
            self.deadline_s = monotonic() + STOP_LIMIT_S
            self.ready.send(Stop())

    def _read_output(self) -> None:
        data = self._read(self.output_pipe)
        room = self.limits.output_bytes - self.output_size
        self.output_size += len(data)
        if self.stopping != "too_much_output" and (text := self.decoder.decode(data[:room])):
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
            with suppress(_Lost):
                if self.output_pipe in arrived:
                    self._read_output()
                if self.report_pipe in arrived:
                    self._read_report()

    def _outcome(self, lost: bool, duration_s: float) -> Outcome:
        end: End = self.stopping or ("lost" if lost else "ended")
        whole = end == "ended" and self.ended is not None and self.ended.exit_code == 0
        return Outcome(
            end=end,
            report=read_report(bytes(self.report), self.nonce) if whole else None,
            exit_code=self.ended.exit_code if self.ended is not None else None,
            output="".join(self.output),
            duration_s=duration_s,
            gpu=self.ready.gpu,
            lost=lost,
        )


def _begun(
    ready: _ReadyProcess,
    request: Request,
    limits: Limits,
    on_output: Callable[[str], None],
    stops: list[Cancellation],
) -> _Run:
    try:
        return _Run(ready, request, limits, on_output, stops)
    except OSError as error:  # no room for its folder, no more files
        raise RunnerUnavailable(f"Your code can't be run: {error}.") from error


@contextmanager
def open_runner() -> Iterator[WarmRunner]:
    """A runner whose warm process is already starting."""
    with WarmRunner() as runner:
        runner.start()
        yield runner
