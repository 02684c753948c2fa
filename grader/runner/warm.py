"""The trusted side of a run: keeps a warm process, and has it run learner code within limits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from grader.errors import RunnerUnavailable
from grader.runner.cancellation import Cancellation
from grader.runner.protocol import Limits, Request
from grader.runner.run import Outcome, Run
from grader.runner.warm_process import Lost, WarmProcess
from grader.verdict import Gpu


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
        shut_in: bool = False,
        bubble: str | None = None,
    ) -> None:
        """`shut_in` keeps runs apart from everything or refuses them; `bubble` is the program bwrap, to do so twice."""
        self._equipment = equipment
        self._environment = environment or {}
        self._fresh = fresh
        self._shut_in = shut_in
        self._bubble = bubble if shut_in else None
        self._turn = threading.Lock()
        self._warm: WarmProcess | None = None
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
            return self._ready_process([self._closing])[1]

    @property
    def gpu(self) -> Gpu | None:
        """The GPU in use, once the warm process has told."""
        return self._warm.ready_gpu if self._warm is not None else None

    @property
    def layers(self) -> list[str]:
        """What keeps a run apart, once the warm process has tried; empty where nobody asked for that."""
        inside = self._warm.layers_inside if self._warm is not None else []
        return ["bubblewrap", *inside] if self._bubble is not None and inside else list(inside)

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
            if outcome.end == "lost" and not outcome.began:  # the warm process had ended while it was idle
                outcome = self._run_once(request, limits or Limits(), on_output, stops)
            if outcome.end == "lost" and not outcome.began:
                raise RunnerUnavailable(f"Your code can't be run: {outcome.lost}")
            return outcome

    def _run_once(
        self, request: Request, limits: Limits, on_output: Callable[[str], None], stops: list[Cancellation]
    ) -> Outcome:
        warm, gpu = self._ready_process(stops)
        try:
            with _begun(warm, gpu, request, limits, on_output, stops) as run:
                outcome = run.follow()
        except BaseException:  # interrupted, or nobody takes the output: the run must not go on
            self._lose_process()
            raise
        if outcome.lost is not None:
            self._lose_process()
        return outcome

    def close(self) -> None:
        """End the warm process and whatever runs."""
        self._closing.cancel()
        with self._turn:
            if self._warm is not None:
                self._warm.end()
                self._warm = None

    def _process(self) -> WarmProcess:
        if self._closing.cancelled:
            raise RunnerUnavailable("The runner is closed.")
        if self._warm is not None and not self._warm.alive():
            self._lose_process()
        if self._warm is None:
            try:
                self._warm = WarmProcess(self._equipment, self._environment, self._fresh, self._shut_in, self._bubble)
            except OSError as error:
                raise RunnerUnavailable(f"No process can be started for your code: {error}.") from error
        return self._warm

    def _ready_process(self, stops: list[Cancellation]) -> tuple[WarmProcess, Gpu]:
        warm = self._process()
        try:
            return warm, warm.wait_ready(stops)
        except Lost as lost:
            self._lose_process()
            raise RunnerUnavailable(str(lost)) from None

    def _lose_process(self) -> None:
        if self._warm is not None:
            self._warm.kill()
            self._warm = None
            self.restarts += 1


def _begun(
    warm: WarmProcess,
    gpu: Gpu,
    request: Request,
    limits: Limits,
    on_output: Callable[[str], None],
    stops: list[Cancellation],
) -> Run:
    try:
        return Run(warm, gpu, request, limits, on_output, stops)
    except OSError as error:  # no room for its folder, no more files
        raise RunnerUnavailable(f"Your code can't be run: {error}.") from error


@contextmanager
def open_runner() -> Iterator[WarmRunner]:
    """A runner whose warm process is already starting."""
    with WarmRunner() as runner:
        runner.start()
        yield runner
