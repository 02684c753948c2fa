"""Kernels and copies of the simulated GPU, each with the memory that is allocated by then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.observe import log

if TYPE_CHECKING:
    from lab.gpu.timeline import Launch

allocated_bytes = 0
"""On the simulated GPU, now."""
most_allocated_bytes = 0
"""The most since the launch before."""


def forget() -> None:
    """Begin to observe anew."""
    global most_allocated_bytes
    most_allocated_bytes = allocated_bytes


def note_allocated(size_bytes: int) -> None:
    """Keep in mind how much memory of the simulated GPU is allocated now; the next launch says it."""
    global allocated_bytes, most_allocated_bytes
    allocated_bytes = size_bytes
    most_allocated_bytes = max(most_allocated_bytes, size_bytes)


def record_launch(launch: Launch) -> None:
    """Add a kernel or copy of the simulated GPU."""
    global most_allocated_bytes
    if not log.observing:
        return
    work = launch.work
    log.record(
        "launch",
        kind=work.kind,
        name=work.name,
        op=launch.op,
        begin_s=launch.begin_s - log.began_s,
        end_s=launch.end_s - log.began_s,
        stream=launch.stream,
        bytes=work.bytes,
        flops=work.flops,
        dtype=work.dtype,
        allocated_bytes=allocated_bytes,
        peak_bytes=most_allocated_bytes,
    )
    most_allocated_bytes = allocated_bytes
