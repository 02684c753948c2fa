"""What the simulated GPU says when it can't."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class NotSimulated(RuntimeError):
    """A call that the simulated GPU doesn't have."""

    def __init__(self, call: str) -> None:
        super().__init__(
            f"The simulated GPU doesn't have {call}. It simulates streams, copies, kernels, memory and the profiler; "
            "run this on a machine with a GPU (PROFILE_FIRST_GPU=real)."
        )


class UnsupportedTorch(RuntimeError):
    """This torch is older than the lab can work with, or its internals have moved."""


def refusing(call: str, original: Any = None) -> Any:
    """A stand-in for a function that isn't simulated, or for a class: then one can still ask isinstance."""
    if isinstance(original, type):
        return type(original.__name__, (original,), {"__module__": original.__module__, "__new__": _refuse(call)})
    return _refuse(call)


def _refuse(call: str) -> Callable[..., Any]:

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotSimulated(call)

    return refuse
