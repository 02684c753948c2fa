"""The grader as a process of its own: takes requests as JSON lines on stdin, answers on stdout, until stdin ends.

The app talks to it through grader.client. Requests are done one after another; a cancel overtakes them.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections import deque
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec

from grader.errors import Cancelled, GraderError
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
    RunStatus,
    ServiceReady,
)
from grader.runner.cancellation import Cancellation
from grader.runner.protocol import Finished, Limits, Script
from grader.runner.run import Outcome
from grader.runner.warm import WarmRunner
from lab.language import _, of_environment, speaking, use

if TYPE_CHECKING:
    from grader.api import Seen

RUN_LIMITS = Limits(time_s=120.0)  # a learner's own run may take longer than a check's
MAX_EVENTS = 20_000  # of a run; more than anyone looks at
SUMMARIES = ("alive_at_peak", "key_averages")  # what the lab tells last, of the run as a whole


class Service:
    """Reads requests in one thread and carries them out in another."""

    def __init__(self, answers: IO[bytes], runner: WarmRunner, longest_run_s: float = math.inf) -> None:
        self._answers = answers
        self._answering = threading.Lock()
        self._runner = runner
        self._longest_run_s = longest_run_s
        self._waiting: deque[RunFile | CheckFile] = deque()
        self._something_waits = threading.Condition()
        self._cancellations: dict[int, Cancellation] = {}

    def answer(self, answer: Answered) -> None:
        with self._answering:
            self._answers.write(msgspec.json.encode(answer) + b"\n")
            self._answers.flush()

    def listen(self, requests: IO[bytes]) -> None:
        """Take in requests until there is nobody left to ask."""
        for line in requests:
            try:
                asked = msgspec.json.decode(line, type=Asked)
            except msgspec.DecodeError as error:
                self.answer(NotDone(-1, "GraderError", f"The grader got a request that it can't read: {error}"))
                continue
            with self._something_waits:
                if isinstance(asked, CancelRequest):
                    if asked.id in self._cancellations:
                        self._cancellations[asked.id].cancel()
                else:
                    self._cancellations[asked.id] = Cancellation()
                    self._waiting.append(asked)
                    self._something_waits.notify()

    def work(self) -> None:
        """Carry out requests, for ever."""
        while True:
            with self._something_waits:
                while not self._waiting:
                    self._something_waits.wait()
                asked = self._waiting.popleft()
                cancellation = self._cancellations[asked.id]
            with speaking(asked.language):
                answer = self._carry_out(asked, cancellation)
            with self._something_waits:
                del self._cancellations[asked.id]
            self.answer(answer)

    def _carry_out(self, asked: RunFile | CheckFile, cancellation: Cancellation) -> Answered:
        try:
            if cancellation.cancelled:
                raise Cancelled(_("Cancelled before it started."))
            if isinstance(asked, RunFile):
                return RunDone(asked.id, self._run(asked, cancellation))
            return self._check(asked, cancellation)
        except Cancelled as error:
            if isinstance(asked, RunFile):
                return RunDone(asked.id, RunResult("cancelled", None, 0.0, None, [], str(error)))
            return NotDone(asked.id, "Cancelled", str(error))
        except GraderError as error:
            return NotDone(asked.id, type(error).__name__, str(error))
        except Exception as error:
            return NotDone(asked.id, "GraderError", f"The grader itself failed ({type(error).__name__}: {error}).")

    def _check(self, asked: CheckFile, cancellation: Cancellation) -> CheckDone:
        from grader.check import check  # pytest takes a moment to import

        first: list[dict[str, Any]] = []

        def seen(run: Seen) -> None:
            first.extend([] if first or not asked.events else first_events(run.observed))

        path = Path(asked.path)
        verdict = check(
            asked.exercise,
            path,
            seed=asked.seed,
            runner=self._runner,
            cancellation=cancellation,
            on_seen=seen,
            longest_run_s=self._longest_run_s,
        )
        return CheckDone(asked.id, verdict, first)

    def _run(self, asked: RunFile, cancellation: Cancellation) -> RunResult:
        path = Path(asked.path).absolute()
        try:
            source = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            return _not_run(_("{path} can't be read: {reason}.", path=path, reason=error.strerror))
        except UnicodeDecodeError:
            return _not_run(_("{name} isn't UTF-8 text. Save it with the encoding UTF-8.", name=path.name))
        outcome = self._runner.run(
            Script(str(path), source),
            RUN_LIMITS,
            lambda text: self.answer(Output(asked.id, text)),
            cancellation,
        )
        return run_result(outcome, RUN_LIMITS)

    def warm_up(self) -> None:
        """Tell when runs can start at once, or why they can't; so does the first request."""
        try:
            self.answer(ServiceReady(self._runner.warm_up(), self._runner.layers))
        except (GraderError, OSError) as error:
            self.answer(NotDone(0, type(error).__name__, str(error)))


def _not_run(message: str) -> RunResult:
    return RunResult("crashed", None, 0.0, None, [], message)


def first_events(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many of the events as are passed on; a last one says so where there were more."""
    if len(events) <= MAX_EVENTS:
        return events
    cut_off = {**events[MAX_EVENTS], "what": "cut_off", "limit": MAX_EVENTS}
    summaries = [event for event in events[MAX_EVENTS:] if event.get("what") in SUMMARIES]
    return [*events[:MAX_EVENTS], cut_off, *summaries[: len(SUMMARIES)]]


def run_result(outcome: Outcome, limits: Limits) -> RunResult:
    """A run of a file as a program, in terms of what the person who started it wants to know."""
    from grader.feedback import killed

    exit_code = outcome.exit_code
    events: list[dict[str, Any]] = []
    message = None
    status: RunStatus = "finished"
    if outcome.end == "ended" and isinstance(outcome.report, Finished):
        exit_code, events = outcome.report.exit_code, first_events(outcome.report.events)
    elif outcome.end == "ended" and exit_code is not None and exit_code >= 0:
        message = _("The program ended its process itself, so what it did with the GPU is not known.")
    elif outcome.end == "ended":
        status, message = "crashed", killed(-exit_code) if exit_code is not None else None
    elif outcome.end == "timeout":
        status, message = (
            "timeout",
            _("Stopped: it was still running after {limit_s:g} seconds.", limit_s=limits.time_s),
        )
    elif outcome.end == "too_much_output":
        status, message = (
            "too_much_output",
            _("Stopped: it printed more than {size:g} MB.", size=limits.output_bytes / 1e6),
        )
    elif outcome.end == "too_large_report":
        status, message = (
            "crashed",
            _(
                "Stopped: what it did takes more than {size:g} MB to write down. Let it do fewer steps.",
                size=limits.report_bytes / 1e6,
            ),
        )
    elif outcome.end == "cancelled":
        status, message = "cancelled", _("Stopped.")
    else:
        status, message = "crashed", _("The process that ran your code ended together with it. Run it again.")
    return RunResult(status, exit_code, outcome.duration_s, outcome.gpu, events, message)


def serve(runner: WarmRunner, longest_run_s: float = math.inf) -> None:
    """Serve the process at the other end of stdin and stdout until it closes stdin or ends."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a check prints must not get among the answers
    service = Service(answers, runner, longest_run_s)
    runner.start()
    threading.Thread(target=service.warm_up, daemon=True).start()
    threading.Thread(target=service.work, daemon=True).start()
    try:
        service.listen(requests)
    finally:
        runner.close()
        os._exit(0)


def main() -> None:
    import argparse
    import signal

    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--shut-in", action="store_true", help="keep what is run apart from everything, or refuse")
    arguments.add_argument("--bubble", metavar="BWRAP", help="the program bubblewrap, to do so twice")
    arguments.add_argument(
        "--longest-run", type=float, default=math.inf, metavar="S", help="when a check's run is stopped"
    )
    options = arguments.parse_args()
    use(of_environment())  # to say why nothing can be run; each request says its own language
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in the terminal is for whoever started this to handle
    serve(WarmRunner(shut_in=options.shut_in, bubble=options.bubble), options.longest_run)


if __name__ == "__main__":
    main()
