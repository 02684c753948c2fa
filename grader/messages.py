"""What the app and the grader's service say to each other, one JSON object a line."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from grader.verdict import Gpu, Verdict
from lab.language import ENGLISH


class RunFile(msgspec.Struct, frozen=True, tag="run"):
    """Run a file as a program."""

    id: int
    path: str
    language: str = ENGLISH
    """In which the result is worded."""


class CheckFile(msgspec.Struct, frozen=True, tag="check"):
    """Check a file as a submission for an exercise."""

    id: int
    exercise: str
    path: str
    seed: int | None = None
    events: bool = True
    """Whether to tell what the lab saw."""
    language: str = ENGLISH
    """In which the verdict is worded."""


class CancelRequest(msgspec.Struct, frozen=True, tag="cancel"):
    """Stop a request, or forget it if it's still waiting."""

    id: int


Asked = RunFile | CheckFile | CancelRequest


RunStatus = Literal["finished", "timeout", "crashed", "cancelled", "too_much_output"]


class RunResult(msgspec.Struct, frozen=True):
    """How a run of a file ended. Its output has been passed on meanwhile."""

    status: RunStatus
    exit_code: int | None
    duration_s: float
    gpu: Gpu | None
    events: list[dict[str, Any]]
    message: str | None = None


class ServiceReady(msgspec.Struct, frozen=True, tag="ready"):
    """The warm process is there; nothing waits for torch any more."""

    gpu: Gpu
    layers: list[str] = []
    """What keeps runs apart, where that was asked for."""


class Output(msgspec.Struct, frozen=True, tag="output"):
    id: int
    text: str


class RunDone(msgspec.Struct, frozen=True, tag="run_done"):
    id: int
    result: RunResult


class CheckDone(msgspec.Struct, frozen=True, tag="check_done"):
    id: int
    verdict: Verdict
    events: list[dict[str, Any]] = []
    """What the lab saw of the first run of the submission."""


class NotDone(msgspec.Struct, frozen=True, tag="not_done"):
    """The request could not be carried out."""

    id: int
    error: str  # the name of the exception in grader.errors
    message: str


Answered = ServiceReady | Output | RunDone | CheckDone | NotDone
