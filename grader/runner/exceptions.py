"""Describes an exception by the lines of the learner's own file."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

from grader.runner.protocol import Frame, Raised, Stage

MAX_TEXT = 4_000
MAX_FRAMES = 8

# What torch.utils.data makes of an exception in a worker: its traceback, as text, in the message of a new one.
_WORKER = re.compile(r"\ACaught \w+ (in DataLoader worker process \d+)\.\nOriginal (Traceback .*)\Z", re.DOTALL)
_WORKER_FRAME = re.compile(r'^  File "(.+)", line (\d+), in (\S+)\n', re.MULTILINE)
_LAST_LINES = re.compile(r"^(?=\S)(?!Traceback )\w[\w.]*(?:: |$).*\Z", re.MULTILINE | re.DOTALL)


def raised(stage: Stage, error: BaseException, path: str) -> Raised:
    """What the runner is told about an exception that ended the learner's code."""
    if isinstance(error, SystemExit):
        return Raised(stage, "SystemExit", "", _frames(_own(error, path)))
    if isinstance(error, SyntaxError) and error.filename == path:
        frame = Frame(error.lineno or 0, "", (error.text or "").strip()[:200])
        return Raised(stage, type(error).__name__, str(error.msg), [frame])
    text = _text(error)
    if worker := _WORKER.match(text):
        return Raised(stage, type(error).__name__, _of_worker(worker), _frames(_all(error, worker, path)))
    return Raised(stage, _writable(type(error).__name__), text, _frames(_own(error, path)))


def learner_traceback(error: BaseException, path: str) -> str:
    """The traceback as Python prints it, only the frames of the learner's own file."""
    worker = _WORKER.match(_text(error))
    frames = _all(error, worker, path) if worker else _own(error, path)
    lines = [line.replace(path, Path(path).name, 1) for line in traceback.format_list(frames)]
    if lines:
        lines.insert(0, "Traceback (most recent call last):\n")
    if worker:
        lines.append(f"{type(error).__name__}: {_of_worker(worker)}\n")
        return "".join(lines)
    try:
        lines += traceback.format_exception_only(type(error), error)
    except Exception:
        lines.append(f"{type(error).__name__}\n")
    return "".join(lines)


def _text(error: BaseException) -> str:
    try:
        return _writable(str(error)[:MAX_TEXT])
    except Exception:
        return ""


def _writable(text: str) -> str:
    """A lone surrogate isn't UTF-8, so it couldn't be reported."""
    return text.encode("utf-8", "backslashreplace").decode()


def _own(error: BaseException, path: str) -> list[traceback.FrameSummary]:
    """The frames in the learner's file, the middle of a long recursion left out."""
    frames: list[traceback.FrameSummary] = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename == path:
            frames.append(traceback.FrameSummary(path, step.tb_lineno, code.co_name))
        step = step.tb_next
    return frames if len(frames) <= MAX_FRAMES else [*frames[:2], *frames[-(MAX_FRAMES - 2) :]]


def _all(error: BaseException, worker: re.Match[str], path: str) -> list[traceback.FrameSummary]:
    """The learner's frames in this process, then those in the worker."""
    found = [
        traceback.FrameSummary(path, int(line), function)
        for file, line, function in _WORKER_FRAME.findall(worker[2])
        if file == path
    ]
    return [*_own(error, path), *found[-MAX_FRAMES:]]


def _of_worker(worker: re.Match[str]) -> str:
    """The worker's own message and where it was raised: "tuple index out of range (in DataLoader worker process 0)"."""
    last = _LAST_LINES.search(worker[2])
    message = last[0].strip().partition(": ")[2] if last else ""
    return f"{message} ({worker[1]})" if message else worker[1]


def _frames(summaries: list[traceback.FrameSummary]) -> list[Frame]:
    return [Frame(f.lineno or 0, f.name[:200], (f.line or "")[:200]) for f in summaries]
