"""Which bottleneck each kind of idle time belongs to."""

from __future__ import annotations

from lab.trace.attribute import Idle
from lab.trace.verdict import Bottleneck

CAUSES: dict[Idle, Bottleneck] = {
    Idle.UNKNOWN: "unknown",
    Idle.DEVICE: "device_wait",
    Idle.DRAINED: "sync",
    Idle.BLOCKING: "sync",
    Idle.DRAINED_BY_FREE: "allocator",
    Idle.ALLOCATING: "allocator",
    Idle.LOADER: "input",
    Idle.COPYING: "copies",
    Idle.CALL: "launch",
    Idle.OPERATOR: "launch",
    Idle.PREPARATION: "launch",
    Idle.HOST_OPERATOR: "python",
    Idle.PYTHON: "python",
}


def idles_of(cause: Bottleneck) -> tuple[Idle, ...]:
    return tuple(idle for idle, each in CAUSES.items() if each == cause)
