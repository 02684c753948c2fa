"""The grader as the app sees it: asynchronous, in a process of its own that is started again when it dies."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from grader import errors
from grader.messages import (
    Answered,
    Asked,
    CancelRequest,
    CheckDone,
    CheckFile,
    NotDone,
    Output,
    RunDone,
    RunFile,
    RunResult,
    ServiceReady,
)
from grader.verdict import Gpu, Verdict
from lab.language import _, current, passed_on

__all__ = ["Grader", "RunResult", "Verdict"]

PACKAGES = Path(__file__).parents[1]
MAX_ANSWER_BYTES = 256_000_000
CLOSE_LIMIT_S = 5.0

T = TypeVar("T", RunDone, CheckDone)


class Grader:
    """Runs and checks files, one after another. Every request may raise a GraderError, whose message is for people."""

    def __init__(self, command: list[str] | None = None) -> None:
        self._command = command or [sys.executable, "-m", "grader.service"]
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._stderr: IO[bytes] | None = None
        self._pending: dict[int, asyncio.Future[RunDone | CheckDone]] = {}  # in the order of asking
        self._outputs: dict[int, Callable[[str], None]] = {}
        self._next_id = 1
        self._starting = asyncio.Lock()
        self._closed = False
        self.gpu: Gpu | None = None  # known once the grader is warm
        self.on_ready: Callable[[Gpu], None] | None = None  # called when `gpu` becomes known

    async def start(self) -> None:
        """Start the grader; its warming up goes on in the background."""
        if self._closed:
            raise errors.ServiceDied(_("The grader is closed."))
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return
            await self._forget_process()
            self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=self._stderr,
                cwd=PACKAGES,
                env=passed_on(),
                limit=MAX_ANSWER_BYTES,
                start_new_session=True,
            )
            self._listening = asyncio.create_task(self._listen(self._process))

    async def run(self, path: Path, on_output: Callable[[str], None]) -> RunResult:
        """Run a file as a program; `on_output` gets what it prints while it runs."""
        request = RunFile(self._new_id(), str(path.absolute()))
        self._outputs[request.id] = on_output
        try:
            return (await self._ask(request.id, request, RunDone)).result
        finally:
            del self._outputs[request.id]

    async def check(
        self,
        exercise: str,
        path: Path,
        seed: int | None = None,
        on_events: Callable[[list[dict[str, Any]]], None] | None = None,
    ) -> Verdict:
        """The verdict on a file as a submission for an exercise or a quiz.

        `on_events` gets what the lab saw of the first run of the submission that came to its end.
        """
        request = CheckFile(self._new_id(), exercise, str(path.absolute()), seed, language=current())
        done = await self._ask(request.id, request, CheckDone)
        if on_events is not None:
            on_events(done.events)
        return done.verdict

    async def cancel(self) -> None:
        """Stop what runs now: a run answers with status "cancelled", a check raises Cancelled. Others go on."""
        if self._pending:
            await self._send(CancelRequest(next(iter(self._pending))))

    async def close(self) -> None:
        """End the grader and everything that it runs."""
        self._closed = True
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), CLOSE_LIMIT_S)
            except asyncio.TimeoutError:
                with suppress(ProcessLookupError):
                    process.kill()
        await self._forget_process()

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id

    async def _ask(self, request_id: int, request: RunFile | CheckFile, expected: type[T]) -> T:
        await self.start()
        answer: asyncio.Future[RunDone | CheckDone] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = answer
        try:
            await self._send(request)
            done = await answer
        except BaseException:  # nobody waits for it any more
            await asyncio.shield(self._send(CancelRequest(request_id)))
            raise
        finally:
            self._pending.pop(request_id, None)
        if not isinstance(done, expected):
            raise errors.GraderError(_("The grader answered another question than it was asked."))
        return done

    async def _send(self, asked: Asked) -> None:
        if self._process is None or self._process.stdin is None:
            return
        with suppress(ConnectionError):  # it died; the listener says so to whoever waits
            self._process.stdin.write(msgspec.json.encode(asked) + b"\n")
            await self._process.stdin.drain()

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        decoder: msgspec.json.Decoder[Answered] = msgspec.json.Decoder(Answered)
        try:
            while line := await process.stdout.readline():
                self._hear(decoder.decode(line))
        except (msgspec.DecodeError, ValueError, ConnectionError):  # ValueError: longer than the limit
            with suppress(ProcessLookupError):
                process.kill()
        await process.wait()
        self._fail_all(process.returncode)

    def _hear(self, answer: Answered) -> None:
        if isinstance(answer, ServiceReady):
            self.gpu = answer.gpu
            if self.on_ready is not None:
                self.on_ready(answer.gpu)
        elif isinstance(answer, Output):
            self._pass_on(answer)
        elif (waiting := self._pending.get(answer.id)) is not None and not waiting.done():
            if isinstance(answer, NotDone):
                kind = getattr(errors, answer.error, errors.GraderError)
                waiting.set_exception(kind(answer.message))
            else:
                waiting.set_result(answer)

    def _pass_on(self, output: Output) -> None:
        take = self._outputs.get(output.id)
        waiting = self._pending.get(output.id)
        if take is None or waiting is None or waiting.done():
            return
        try:
            take(output.text)
        except Exception as error:  # the caller's own fault comes back to the caller
            waiting.set_exception(error)

    def _fail_all(self, exit_code: int | None) -> None:
        if self._closed:
            error: errors.GraderError = errors.Cancelled(_("The grader was closed."))
        else:
            error = errors.ServiceDied(
                _(
                    "The grader's process ended unexpectedly (exit code {exit_code}).{last_words} It "
                    "starts again with your next run or check.",
                    exit_code=exit_code,
                    last_words=self._last_words(),
                )
            )
        for waiting in self._pending.values():
            if not waiting.done():
                waiting.set_exception(error)

    def _last_words(self) -> str:
        if self._stderr is None:
            return ""
        self._stderr.seek(0)
        lines = self._stderr.read()[-4000:].decode(errors="replace").strip().splitlines()
        return _(" Its last words: {lines}.", lines=lines[-1]) if lines else ""

    async def _forget_process(self) -> None:
        if self._listening is not None:
            await self._listening
            self._listening = None
        self._process = None
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None
