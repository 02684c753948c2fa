"""Says to a learner how a run of their code ended: what was seen, where, and what to do."""

from __future__ import annotations

import signal
import unicodedata
from pathlib import Path

from grader.api import SubmissionFailed, Workload
from grader.runner.protocol import Call, Finished, Frame, Limits, Raised, Returned, Script
from grader.runner.run import Outcome
from grader.verdict import Status

OURS = "This is a fault of the course, not of yours: please report it."
CHANGED = (
    "The exercise could not set up what it measures once your file was loaded: {} "
    "Does your file change what is PyTorch's or the lab's? Leave that as it is."
)
MAX_LINES = 12
MAX_MESSAGE = 3_000


def printable(text: str) -> str:
    """Learner-made text without what could play tricks on a terminal."""
    return "".join(c if c in "\n\t" or unicodedata.category(c)[0] != "C" else "\ufffd" for c in text)


def failure(
    outcome: Outcome, request: Call | Script, limits: Limits, *, built_elsewhere: bool = False
) -> SubmissionFailed | None:
    """Why this run brought no value, or None if it did.

    `built_elsewhere`: what the run works on could be set up where none of the submission's code had run.
    """
    if outcome.end == "ended" and isinstance(outcome.report, Returned | Finished):
        expected = Returned if isinstance(request, Call) else Finished
        if isinstance(outcome.report, expected):
            return None
    if built_elsewhere and isinstance(outcome.report, Raised) and outcome.report.stage == "build":
        message = CHANGED.format(_sentence(f"{outcome.report.error}: {_shortened(outcome.report.text)}"))
        return SubmissionFailed("error", printable(message)[:MAX_MESSAGE])
    status, message = _explain(outcome, request, limits)
    return SubmissionFailed(status, printable(message)[:MAX_MESSAGE], ours=_is_ours(outcome))


def _is_ours(outcome: Outcome) -> bool:
    if isinstance(outcome.report, Raised):
        return outcome.report.stage in ("start", "build")
    return outcome.end == "ended" and not outcome.reached


def not_expected(outcome: Outcome, workload: Workload) -> SubmissionFailed:
    """Why there is nothing to compare a submission with, though none of its code had a part in that."""
    if isinstance(outcome.report, Raised):
        why = f"{outcome.report.error}: {_shortened(outcome.report.text)}"
    else:
        why = f"it took more than {outcome.duration_s:.0f} seconds" if outcome.end == "timeout" else outcome.end
    return SubmissionFailed(
        "error", f"What to expect of {workload.name} could not be measured ({why}). {OURS}", ours=True
    )


def _explain(outcome: Outcome, request: Call | Script, limits: Limits) -> tuple[Status, str]:
    subject = f"`{request.function}`" if isinstance(request, Call) else "Your program"
    if outcome.end == "timeout":
        return "timeout", (
            f"{subject} was still running after {limits.time_s:g} seconds and was stopped. "
            "Look for a loop that never ends, or for much more work than the task asks for."
        )
    if outcome.end == "too_much_output":
        return "crashed", (
            f"Your code printed more than {_size(limits.output_bytes)} and was stopped. "
            "Look for a print inside a loop that never ends."
        )
    if outcome.end == "too_many_processes":
        return "crashed", (
            f"Your code started more than {limits.processes} processes and was stopped. "
            "Look for a fork, or for workers, inside a loop."
        )
    if outcome.end == "too_much_memory":
        return "crashed", (
            f"Your code and the processes that it started took more than {_size(limits.memory_bytes)} of memory "
            "and were stopped. Try smaller sizes, or fewer workers."
        )
    if outcome.end == "too_large_report":
        return "crashed", (
            f"What {subject} returned, or did, takes more than {_size(limits.report_bytes)} to write down, "
            "so it was stopped. Return only what the task asks for."
        )
    if outcome.end == "lost":
        return "crashed", (
            "The process that runs your code ended together with it, so there is no result. "
            "Don't end or signal other processes; if you didn't, check again."
        )
    if isinstance(outcome.report, Raised):
        return "error", _raised(outcome.report, request)
    code = outcome.exit_code
    if code is not None and code < 0:
        return "crashed", killed(-code)
    if not outcome.reached:
        return "crashed", f"The process for your code ended before it could begin (exit code {code}). {OURS}"
    return "crashed", (
        "Your code ended the process before there was a result (os._exit, or the like). "
        "Let the function return its result instead."
    )


def killed(number: int) -> str:
    if number == signal.SIGKILL:
        return "Your code was killed by the system, most likely because it used too much memory. Try smaller sizes."
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    if name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGILL"):
        return f"Your code crashed Python itself ({name}). Look for native code, ctypes, or endless recursion."
    if name == "SIGXFSZ":
        return "Your code wrote a file that is too large, and was stopped."
    return f"Your code was ended by {name}. Let the function return its result instead."


def _raised(raised: Raised, request: Call | Script) -> str:
    file = Path(request.path).name
    where = _where(raised.frames, file)
    error = f"{raised.error}: {_shortened(raised.text)}" if raised.text else raised.error
    function = f"`{request.function}`" if isinstance(request, Call) else "the program"
    if raised.error == "SystemExit":
        return f"Your code called sys.exit() before there was a result. Let {function} return its result.{where}"
    if raised.stage == "find":
        return _not_found(raised, file, function)
    if raised.stage == "load" and raised.error in ("SyntaxError", "IndentationError", "TabError"):
        return f"{file} isn't valid Python, so it could not be run. {error}{where}"
    if raised.stage == "load":
        return f"{file} stopped with an error while it was being loaded: {error}{where}"
    if raised.stage == "bind":
        return f"{function} can't be called as the task asks ({error}). Keep the parameters that the file came with."
    if raised.stage == "start":
        return f"The process for your code could not be set up: {_sentence(error)} {OURS}"
    if raised.stage == "build":
        return f"The exercise could not set up what it measures: {_sentence(error)} {OURS}"
    if raised.stage == "then":
        return f"{function} returned, but using what it returned failed: {error}{where}"
    if raised.stage == "observe":
        return f"{function} returned, but what came of it could not be written down: {error}"
    return f"{function} stopped with an error: {error}{where}"


def _not_found(raised: Raised, file: str, function: str) -> str:
    if raised.error:
        return f"{function} in {file} is of type {raised.error}, not a function. Define it with `def`."
    defined = f" It defines: {raised.text}." if raised.text else ""
    return f"{file} has no function {function}.{defined} Keep the name that the file came with."


def _where(frames: list[Frame], file: str) -> str:
    lines = []
    for frame in frames:
        inside = f", in {frame.function}" if frame.function and frame.function != "<module>" else ""
        lines.append(f"  {file}, line {frame.line}{inside}")
        if frame.code:
            lines.append(f"    {frame.code}")
    return "".join(f"\n{line}" for line in lines)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _shortened(text: str) -> str:
    """Long texts, such as a DataLoader's with the worker's traceback in it, keep their beginning and their end."""
    lines = text.strip().splitlines()
    if len(lines) > MAX_LINES:
        lines = [*lines[:2], "…", *lines[-3:]]
    return "\n".join(lines)


def _size(count: int) -> str:
    return f"{count / 1_000_000:g} MB"
