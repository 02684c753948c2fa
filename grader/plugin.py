"""The pytest plugin of the checks: gives them a submission, and turns their outcomes into points."""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable, Generator, Mapping
from typing import Any

import msgspec
import pytest

from grader.api import Mistake, Seen, SubmissionFailed, Workload, mistake
from grader.errors import Cancelled, CheckFault, GraderError
from grader.feedback import failure, not_expected, printable
from grader.runner.cancellation import Cancellation
from grader.runner.protocol import Argument, BuiltArgument, Call, Expect, Finished, Limits, Returned, Script
from grader.runner.run import Outcome
from grader.runner.warm import WarmRunner
from grader.source import Source
from grader.verdict import CheckResult, Gpu, Status
from lab.language import _


class Submission:
    """A learner's file, to be run as often as the checks need it."""

    def __init__(
        self,
        path: str,
        source: Source,
        seed: int,
        runner: WarmRunner,
        cancellation: Cancellation | None = None,
        on_output: Callable[[str], None] | None = None,
        on_seen: Callable[[Seen], None] | None = None,
        longest_run_s: float = math.inf,
    ) -> None:
        self.path = path
        self.source = source
        self.seed = seed
        self.random = random.Random(seed)
        self.gpu: Gpu | None = None
        self.program_s = 0.0
        self._runner = runner
        self._cancellation = cancellation
        self._on_output = on_output or (lambda text: None)
        self._on_seen = on_seen or (lambda text: None)
        self._seen: dict[bytes, Seen | SubmissionFailed] = {}
        self._expected: dict[bytes, Any] = {}
        self._unusable: SubmissionFailed | None = None
        self._longest_run_s = longest_run_s

    def give_up(self, reason: SubmissionFailed) -> None:
        """Let every further run fail for this reason."""
        self._unusable = reason

    def call(
        self,
        function: str,
        *args: Any,
        seed: int | None = None,
        then: Workload | None = None,
        known_errors: Mapping[str, str] | None = None,
        time_limit_s: float = 20.0,
        **kwargs: Any,
    ) -> Seen:
        """Call a function of the submission in a fresh process. Raises SubmissionFailed if it doesn't return.

        `then` is a workload whose second half is given what the function returned, in the same process.
        `known_errors` are texts of exceptions, each with the known mistake that it comes from.
        """
        seed = self.seed if seed is None else seed
        request = Call(
            path=self.path,
            source=self.source.text,
            function=function,
            arguments=[_argument(value, seed) for value in args],
            keyword_arguments={name: _argument(value, seed) for name, value in kwargs.items()},
            then=None if then is None else _built(then, seed),
            seed=seed,
            cells=list(self.source.starts),
        )
        try:
            return self._run_once(request, self._limits(time_limit_s))
        except SubmissionFailed as failed:
            for text, mistake_id in (known_errors or {}).items():
                if text in str(failed):
                    raise AssertionError(Mistake(mistake_id, f"{mistake(mistake_id)}\n{failed}")) from failed
            raise

    def expected(self, workload: Workload, *, time_limit_s: float = 60.0) -> Any:
        """What a right answer for this workload is compared with, measured in a process without the submission.

        Ask for it before the call, so that not even what a submission leaves behind can have a part in it.
        """
        if self._unusable is not None:
            raise self._unusable
        request = Expect(_built(workload, self.seed))
        key = msgspec.json.encode(request)
        if key not in self._expected:
            outcome = self._runner.run(request, Limits(time_s=time_limit_s), lambda text: None, self._cancellation)
            if outcome.end == "cancelled":
                raise Cancelled("The check was cancelled.")
            self.gpu = outcome.gpu
            report = outcome.report
            self.program_s += outcome.duration_s
            self._expected[key] = report.value if isinstance(report, Returned) else not_expected(outcome, workload)
        expected = self._expected[key]
        if isinstance(expected, SubmissionFailed):
            raise expected
        return expected

    def run(self, *, time_limit_s: float = 60.0) -> Seen:
        """Run the whole file as a program. Raises SubmissionFailed if it doesn't come to its end with exit code 0."""
        return self._run_once(Script(self.path, self.source.text, self.seed), self._limits(time_limit_s))

    def _limits(self, time_limit_s: float) -> Limits:
        return Limits(time_s=min(time_limit_s, self._longest_run_s))

    def _run_once(self, request: Call | Script, limits: Limits) -> Seen:
        if self._unusable is not None:
            raise self._unusable
        key = msgspec.json.encode((request, limits))
        if key not in self._seen:
            self._seen[key] = self._run(request, limits)
        seen = self._seen[key]
        if isinstance(seen, SubmissionFailed):
            raise seen
        return seen

    def _run(self, request: Call | Script, limits: Limits) -> Seen | SubmissionFailed:
        outcome = self._runner.run(request, limits, self._on_output, self._cancellation)
        if outcome.end == "cancelled":
            raise Cancelled("The check was cancelled.")
        self.gpu = outcome.gpu
        self.program_s += outcome.duration_s
        failed = failure(outcome, request, limits, built_elsewhere=bool(self._expected))
        seen = failed if failed is not None else _seen(outcome)
        if isinstance(seen, SubmissionFailed):
            seen = SubmissionFailed(seen.status, self.source.explained(str(seen)), ours=seen.ours)
        if isinstance(seen, Seen):
            self._on_seen(seen)
        elif seen.status == "timeout":
            self.give_up(seen)  # nobody wants to wait for the same loop again
        return seen


GIVEN = pytest.StashKey[Submission]()


def _seen(outcome: Outcome) -> Seen | SubmissionFailed:
    report = outcome.report
    if isinstance(report, Returned):
        value, then, exit_code = report.value, report.then, 0
    elif isinstance(report, Finished):
        value, then, exit_code = None, None, report.exit_code
        if exit_code != 0:
            last = printable(outcome.output.strip())[-1500:]
            return SubmissionFailed(
                "error",
                _("Your program ended with exit code {code}. Its last output:\n{last}", code=exit_code, last=last),
            )
    else:
        raise AssertionError(f"a run without a value must have failed: {report}")
    return Seen(value, then, report.events, outcome.output, report.duration_s, outcome.gpu, exit_code)


def _argument(value: Any, seed: int) -> Argument:
    if isinstance(value, Workload):
        return Argument(built=_built(value, seed))
    return Argument(value=value)


def _built(workload: Workload, seed: int) -> BuiltArgument:
    return BuiltArgument(workload.name, workload.params, seed if workload.seed is None else workload.seed)


def title(function: Callable[..., object]) -> str:
    """What a learner reads as the name of a check: the first line of its docstring."""
    text = inspect.getdoc(function)
    if text:
        return _(text.splitlines()[0].strip())
    return function.__name__.removeprefix("test_").replace("_", " ").capitalize()


@pytest.fixture(scope="session")
def submission(pytestconfig: pytest.Config) -> Submission:
    """The file that is being checked."""
    return pytestconfig.stash[GIVEN]


class PointsPlugin:
    """Collects one result for each check. A check that never reports, or reports anything but success, gets nothing."""

    def __init__(self, submission: Submission) -> None:
        self.given = submission
        self.results: dict[str, CheckResult] = {}
        self.faults: list[str] = []
        self.stopped_by: GraderError | None = None
        self.interrupted = False
        self.status: Status | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "points(n): what this check is worth")
        config.stash[GIVEN] = self.given

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self.interrupted = excinfo.type is KeyboardInterrupt

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.faults.append(str(report.longrepr))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            points = _points(item)
            if points is None:
                self.faults.append(f"{item.name} has no @pytest.mark.points(n) with a whole number")
            self.results[item.nodeid] = CheckResult(
                _item_title(item), False, 0, points or 0, _("This check did not report, so it doesn't count.")
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        result = self.results[item.nodeid]
        if call.excinfo is not None:
            self._fail(item, result, call.excinfo.value)
        elif report.when == "call" and report.outcome == "passed" and not hasattr(report, "wasxfail"):
            self.results[item.nodeid] = msgspec.structs.replace(
                result, passed=True, points=result.max_points, message=None
            )
        return report

    def _fail(self, item: pytest.Item, result: CheckResult, error: BaseException) -> None:
        message: str
        mistake_id = None
        ours = False
        if isinstance(error, SubmissionFailed):
            message, ours = str(error), error.ours
            self.status = self.status or error.status
        elif isinstance(error, AssertionError) and error.args and isinstance(error.args[0], str):
            message = printable(error.args[0])
            mistake_id = error.args[0].id if isinstance(error.args[0], Mistake) else None
        else:
            if isinstance(error, GraderError) and not isinstance(error, CheckFault):
                self.stopped_by = error
                item.session.shouldstop = str(error)
            ours = True
            what = f"{type(error).__name__}: {printable(str(error))[:300]}"
            message = (
                _("The check itself failed ({error}).", error=what)
                + " "
                + _("That is a fault of the course, not of your code: please report it.")
            )
        self.results[item.nodeid] = msgspec.structs.replace(
            result, passed=False, points=0, message=message, mistake=mistake_id, ours=ours
        )


def _points(item: pytest.Item) -> int | None:
    mark = item.get_closest_marker("points")
    if mark is None or len(mark.args) != 1 or type(mark.args[0]) is not int or mark.args[0] < 0:
        return None
    points: int = mark.args[0]
    return points


def _item_title(item: pytest.Item) -> str:
    assert isinstance(item, pytest.Function)
    return title(item.function)
