"""Writes down what a program does with the GPU: waits, reads, copies, launches, phases, clocks, memory, labels.

The same events are seen on a real GPU and on the simulated one, except `launch` and `alive_at_peak`, which only the
simulated GPU knows.
"""

from __future__ import annotations

import time
from typing import Any

from lab.observe import allocations, launches, log, profilers
from lab.observe.allocations import note_action, note_given
from lab.observe.launches import note_allocated, record_launch
from lab.observe.log import events, gpu_left_s, lab_time_s, record

__all__ = [
    "events",
    "finish",
    "gpu_left_s",
    "install",
    "lab_time_s",
    "note_action",
    "note_allocated",
    "note_given",
    "record",
    "record_launch",
    "start",
]


def start() -> None:
    """Forget what was seen and begin to observe."""
    launches.forget()
    profilers.forget()
    log.start()
    allocations.books.restart()


def finish() -> list[dict[str, Any]]:
    """Stop observing, return the events in order, and after them what they come to: plain data, ready for JSON."""
    if not log.observing:
        return log.finish()
    seen = log.finish()
    for summary in (allocations.summary, profilers.summary):
        told = summary()
        if told is not None:
            seen.append({"n": len(seen), **told})
    return seen


def install(simulated: bool) -> None:
    """Wrap the calls to be seen, once the GPU is in place."""
    import torch

    from lab.observe import clocks, copies, host_reads, memory, phases, roles, waits

    log.read_lab_time_s = time.perf_counter
    if simulated:
        from lab.gpu.device import clock, timeline

        log.read_lab_time_s, log.read_gpu_left_s = clock.now_s, timeline.left_s
    else:
        log.read_gpu_left_s = real_gpu_left_s
    clocks.install()
    waits.install(torch)
    host_reads.install(torch)
    copies.install(torch.Tensor)
    let_lazy_modules_move(torch.Tensor)
    memory.install(torch)
    profilers.install(torch)
    phases.install(torch)
    if simulated:
        roles.install(torch)


def real_gpu_left_s() -> float:
    """A real GPU can be asked whether it is done, not how long it still needs."""
    import torch

    return -1.0 if torch.cuda.is_initialized() and not torch.cuda.current_stream().query() else 0.0


def let_lazy_modules_move(tensor: Any) -> None:
    """PyTorch compares the methods by which they move with this list."""
    from torch.nn.parameter import UninitializedParameter

    allowed: list[Any] = UninitializedParameter._allowed_methods  # type: ignore[attr-defined]
    allowed += [tensor.to, tensor.cuda, tensor.cpu, tensor.copy_, tensor.get_device]
