"""What the grader says about one submission, and the JSON that carries it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from lab.language import ENGLISH

Status = Literal["passed", "failed", "error", "timeout", "crashed", "unanswered"]
"""`unanswered`: of a quiz no question was answered, as in a notebook that was handed in for its exercise alone."""


class Gpu(msgspec.Struct, frozen=True):
    """The GPU that a submission ran on."""

    kind: Literal["real", "simulated"]
    name: str


class CheckResult(msgspec.Struct, frozen=True):
    """One check of an exercise, or one question of a quiz."""

    name: str
    passed: bool
    points: int
    max_points: int
    message: str | None = None
    mistake: str | None = None
    ours: bool = False
    """Whether it was the course or the machine that failed, not the submission."""


class Verdict(msgspec.Struct, frozen=True):
    """The result of checking one submission; `schema` changes when the meaning of a field does."""

    exercise: str
    status: Status
    points: int
    max_points: int
    checks: list[CheckResult]
    gpu: Gpu | None
    seed: int
    duration_s: float
    source_sha256: str
    version: str
    program_s: float = 0.0
    """How much of `duration_s` the processes ran with the submission in them, and those that it is compared with."""
    language: str = ENGLISH
    """In which the names and messages of the checks are."""
    schema: Literal[1] = 1

    @property
    def passed(self) -> bool:
        return self.status == "passed"


def to_plain(verdict: Verdict) -> dict[str, Any]:
    """A verdict as a plain dictionary, `schema` first as readers expect it."""
    plain: dict[str, Any] = msgspec.to_builtins(verdict)
    return {"schema": plain.pop("schema"), **plain}


def to_json(verdict: Verdict) -> bytes:
    return msgspec.json.encode(to_plain(verdict))


def from_json(data: bytes | str) -> Verdict:
    """Read a verdict back; raises msgspec.ValidationError on anything else."""
    return msgspec.json.decode(data, type=Verdict)
