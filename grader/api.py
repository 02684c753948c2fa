"""The few names that a check needs."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from grader.mistakes import Mistake, mistake
from grader.verdict import Gpu, Status
from lab.language import _

__all__ = ["Mistake", "Seen", "SubmissionFailed", "Workload", "approx", "mistake", "named", "other_unit", "workload"]


class SubmissionFailed(Exception):
    """The submission didn't come back with a value; the message is for the learner."""

    def __init__(self, status: Status, message: str, *, ours: bool = False) -> None:
        super().__init__(message)
        self.status: Status = status
        self.ours = ours
        """Whether it is no fault of the submission's. Its message can't tell: a learner may write what we do."""


class Workload(msgspec.Struct, frozen=True):
    """An argument that lab.workloads builds where the submission runs."""

    name: str
    params: dict[str, Any]
    seed: int | None = None  # None: the seed of the grading


def workload(name: str, *, seed: int | None = None, **params: Any) -> Workload:
    """The workload of this name, built with these parameters in the process of the submission."""
    return Workload(name, params, seed)


class Seen(msgspec.Struct, frozen=True):
    """What one run of a submission returned, and what the lab observed meanwhile. All of it is plain data."""

    value: Any  # the function's return value, as lab.plain wrote it
    then: Any  # the same for what the second half of the workload made of it
    observed: list[dict[str, Any]]
    stdout: str
    duration_s: float
    gpu: Gpu
    exit_code: int = 0  # of a file run as a program

    def events(self, what: str | None = None, **match: Any) -> list[dict[str, Any]]:
        """The events of this kind, in order, whose fields equal those given."""
        return [
            event
            for event in self.observed
            if (what is None or event.get("what") == what)
            and all(name in event and event[name] == value for name, value in match.items())
        ]

    def clocks(self) -> set[str]:
        """The clocks that the submission read itself, seconds and nanoseconds as one."""
        return {event["call"].removesuffix("_ns") for event in self.events("clock_read")}


def other_unit(reported: float, expected_s: float) -> str | None:
    """The unit that a reported number seems to have where it should be so many seconds; None if it may be seconds."""
    for factor, unit in ((1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds")):
        if 0.5 < reported / (factor * expected_s) < 2:
            return unit
    return None


def named(value: Any) -> str:
    """What a value as lab.plain wrote it is, for a message about one of the wrong type."""
    kinds = {
        bool: _("a bool"),
        int: _("an int"),
        float: _("a float"),
        str: _("text"),
        list: _("a list or tuple"),
    }
    if value is None:
        return _("nothing (None)")
    if type(value) is not dict:
        return kinds.get(type(value), type(value).__name__)
    name, told = next(iter(value.items()), ("", None))
    if len(value) != 1 or not name.startswith("$") or name.startswith("$$"):
        return _("a dictionary")
    if name in ("$float", "$other"):
        return f"{told}" if name == "$float" else _("an object of type {kind}", kind=told)
    tensor = _("a tensor (take its value with .item())")
    of_torch = {"$loader": _("a DataLoader"), "$profile": _("a profiler"), "$tensor": tensor}
    return of_torch.get(name, _("something too large"))


class approx:  # noqa: N801  reads like pytest's
    """Equal to a finite int or float near `expected`, and to nothing else (no bool, no string, no list)."""

    def __init__(self, expected: float, *, rel: float = 1e-6, abs: float = 0.0) -> None:
        self.expected = expected
        self.tolerance = max(rel * math.fabs(expected), abs)

    def __eq__(self, other: object) -> bool:
        if type(other) is not int and type(other) is not float:
            return False
        assert isinstance(other, (int, float))
        try:
            return math.fabs(other - self.expected) <= self.tolerance  # NaN and infinity compare false
        except OverflowError:  # an int beyond the floats
            return False

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self.expected:g} ± {self.tolerance:g}"
