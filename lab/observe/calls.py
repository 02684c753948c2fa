"""Calls that make the host wait: each is written down once, whatever it calls itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from lab.observe import log


class Inside(threading.local):
    """Whether this thread is inside a call that is already written down."""

    call = False


inside = Inside()


def waiting(call: str, function: Callable[..., Any], what: tuple[str, ...] = ("wait",)) -> Callable[..., Any]:
    """Write down a call that makes the host wait; calls that it makes itself are part of it."""

    @wraps(function)
    def observed(*args: Any, **kwargs: Any) -> Any:
        if not log.observing or inside.call:
            return function(*args, **kwargs)
        inside.call = True
        begin = log.lab_time_s()
        try:
            return function(*args, **kwargs)
        finally:
            inside.call = False
            for kind in what:
                log.record(kind, call=call, **({"waited_s": log.lab_time_s() - begin} if kind == "wait" else {}))

    return observed


def silently(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call it without writing down what it calls itself."""
    inside.call = True
    try:
        return function(*args, **kwargs)
    finally:
        inside.call = False
