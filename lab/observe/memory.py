"""Memory that a program asks about, resets or gives back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from lab.observe import log

READS = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")
RESETS = ("reset_peak_memory_stats", "reset_max_memory_allocated")


def install(torch: Any) -> None:
    observed: dict[str, Any] = dict.fromkeys(READS, memory_read)
    observed |= dict.fromkeys(RESETS, partial(peak_reset, statistics=torch.cuda.memory_stats))
    observed["empty_cache"] = cache_emptied
    for module, prefix in ((torch.cuda, "torch.cuda"), (torch.accelerator, "torch.accelerator")):
        for name, observing in observed.items():
            if hasattr(module, name):
                setattr(module, name, observing(f"{prefix}.{name}", getattr(module, name)))


def memory_read(call: str, function: Callable[..., int]) -> Callable[..., int]:
    @wraps(function)
    def reading(*args: Any, **kwargs: Any) -> int:
        value = function(*args, **kwargs)
        log.record("memory_read", call=call, value_bytes=int(value))
        return value

    return reading


def peak_reset(call: str, function: Callable[..., None], statistics: Callable[[], Any]) -> Callable[..., None]:
    @wraps(function)
    def resetting(*args: Any, **kwargs: Any) -> None:
        peak_bytes = int(statistics().get("allocated_bytes.all.peak", 0))  # nobody could read it afterwards
        function(*args, **kwargs)
        log.record("peak_reset", call=call, peak_bytes=peak_bytes)

    return resetting


def cache_emptied(call: str, function: Callable[..., None]) -> Callable[..., None]:
    @wraps(function)
    def emptying(*args: Any, **kwargs: Any) -> None:
        began_s = log.lab_time_s()
        function(*args, **kwargs)
        log.record("cache_emptied", call=call, lasted_s=log.lab_time_s() - began_s)

    return emptying
