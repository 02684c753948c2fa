"""Says to a learner how a run of their code ended: what was seen, where, and what to do."""

from __future__ import annotations

import signal
import unicodedata
from pathlib import Path

from grader.api import SubmissionFailed, Workload
from grader.runner.protocol import Call, Finished, Frame, Limits, Raised, Returned, Script
from grader.runner.run import Outcome
from grader.verdict import Status
from lab.language import N_, _, number

OURS = N_("This is a fault of the course, not of yours: please report it.")
CHANGED = N_(
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
        message = _(CHANGED).format(_sentence(f"{outcome.report.error}: {_shortened(outcome.report.text)}"))
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
        why = (
            _("it took more than {duration_s:.0f} seconds", duration_s=outcome.duration_s)
            if outcome.end == "timeout"
            else outcome.end
        )
    return SubmissionFailed(
        "error",
        _("What to expect of {name} could not be measured ({why}). {ours}", name=workload.name, why=why, ours=_(OURS)),
        ours=True,
    )


def _explain(outcome: Outcome, request: Call | Script, limits: Limits) -> tuple[Status, str]:
    subject = f"`{request.function}`" if isinstance(request, Call) else _("Your program")
    if outcome.end == "timeout":
        return "timeout", (
            _(
                "{subject} was still running after {time_s:g} seconds and was stopped. Look for a "
                "loop that never ends, or for much more work than the task asks for.",
                subject=subject,
                time_s=limits.time_s,
            )
        )
    if outcome.end == "too_much_output":
        return "crashed", (
            _(
                "Your code printed more than {output_bytes} and was stopped. Look for a print inside "
                "a loop that never ends.",
                output_bytes=_size(limits.output_bytes),
            )
        )
    if outcome.end == "too_many_processes":
        return "crashed", (
            _(
                "Your code started process after process and was stopped. Look for a fork, or for workers, "
                "inside a loop."
            )
        )
    if outcome.end == "too_much_memory":
        return "crashed", (
            _(
                "Your code was stopped while it and the processes that it started held much of the memory that a run "
                "may have, {memory_bytes}. Try smaller sizes, or fewer workers.",
                memory_bytes=_size(limits.memory_bytes),
            )
        )
    if outcome.end == "too_large_report":
        return "crashed", (
            _(
                "What {subject} returned, or did, takes more than {report_bytes} to write down, so "
                "it was stopped. Return only what the task asks for.",
                subject=subject,
                report_bytes=_size(limits.report_bytes),
            )
        )
    if outcome.end == "lost":
        return "crashed", (
            _(
                "The process that runs your code ended together with it, so there is no result. "
                "Don't end or signal other processes; if you didn't, check again."
            )
        )
    if isinstance(outcome.report, Raised):
        return "error", _raised(outcome.report, request)
    code = outcome.exit_code
    if code is not None and code < 0:
        return "crashed", killed(-code)
    if not outcome.reached:
        return "crashed", _(
            "The process for your code ended before it could begin (exit code {code}). {ours}", code=code, ours=_(OURS)
        )
    return "crashed", (
        _(
            "Your code ended the process before there was a result (os._exit, or the like). "
            "Let the function return its result instead."
        )
    )


def killed(signal_number: int) -> str:
    if signal_number == signal.SIGKILL:
        return _("Your code was killed by the system, most likely because it used too much memory. Try smaller sizes.")
    try:
        name = signal.Signals(signal_number).name
    except ValueError:
        name = _("signal {number}", number=signal_number)
    if name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGILL"):
        return _(
            "Your code crashed Python itself ({name}). Look for native code, ctypes, or endless recursion.", name=name
        )
    if name == "SIGXFSZ":
        return _("Your code wrote a file that is too large, and was stopped.")
    return _("Your code was ended by {name}. Let the function return its result instead.", name=name)


def _raised(raised: Raised, request: Call | Script) -> str:
    file = Path(request.path).name
    where = _where(raised.frames, file)
    error = f"{raised.error}: {_shortened(raised.text)}" if raised.text else raised.error
    if raised.error == "EOFError" and raised.text == "EOF when reading a line":
        error = f"{error}. " + _(
            "There is no keyboard here, so input() finds nothing to read. Write the value instead."
        )
    function = f"`{request.function}`" if isinstance(request, Call) else _("the program")
    if raised.error == "SystemExit":
        return _(
            "Your code called sys.exit() before there was a result. Let {function} return its result.{where}",
            function=function,
            where=where,
        )
    if raised.stage == "find":
        return _not_found(raised, file, function)
    if raised.stage == "load" and raised.error in ("SyntaxError", "IndentationError", "TabError"):
        return _(
            "{file} isn't valid Python, so it could not be run. {error}{where}", file=file, error=error, where=where
        )
    if raised.stage == "load":
        return _(
            "{file} stopped with an error while it was being loaded: {error}{where}",
            file=file,
            error=error,
            where=where,
        )
    if raised.stage == "bind":
        return _(
            "{function} can't be called as the task asks ({error}). Keep the parameters that the file came with.",
            function=function,
            error=error,
        )
    if raised.stage == "start":
        return _("The process for your code could not be set up: {error} {ours}", error=_sentence(error), ours=_(OURS))
    if raised.stage == "build":
        return _("The exercise could not set up what it measures: {error} {ours}", error=_sentence(error), ours=_(OURS))
    if raised.stage == "then":
        return _(
            "{function} returned, but using what it returned failed: {error}{where}",
            function=function,
            error=error,
            where=where,
        )
    if raised.stage == "observe":
        return _(
            "{function} returned, but what came of it could not be written down: {error}",
            function=function,
            error=error,
        )
    return _("{function} stopped with an error: {error}{where}", function=function, error=error, where=where)


def _not_found(raised: Raised, file: str, function: str) -> str:
    if raised.error:
        return _(
            "{function} in {file} is of type {error}, not a function. Define it with `def`.",
            function=function,
            file=file,
            error=raised.error,
        )
    defined = _(" It defines: {text}.", text=raised.text) if raised.text else ""
    return _(
        "{file} has no function {function}.{defined} Keep the name that the file came with.",
        file=file,
        function=function,
        defined=defined,
    )


def _where(frames: list[Frame], file: str) -> str:
    lines = []
    for frame in frames:
        # As Python words it: the app finds the line by these words.
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
    return f"{number(count / 1_000_000, 'g')} MB"
