"""Puts the simulated GPU into this process, for good."""

from __future__ import annotations

import atexit
import gc
import importlib
import threading
import time
import timeit
from typing import Any

import torch

from lab import observe
from lab.gpu import autocast, cuda, factories, memory_history, profiler, recording, tensors
from lab.gpu.clock import REAL, patched_clocks
from lab.gpu.device import clock, memory, timeline
from lab.gpu.dispatch import SimulatedGpu
from lab.gpu.errors import UnsupportedTorch, refusing

OLDEST = (2, 8)
mode = SimulatedGpu()  # kept here: torch 2.8 loses a mode that nothing else refers to when it prints a tensor


def install() -> None:
    """Install once per process. Raises UnsupportedTorch where PyTorch's internals aren't as expected."""
    check_version()
    # PyTorch imports these at first use. They must see torch as it is, so they come before the changes.
    for module in ("torch._dynamo", "torch._decomp.decompositions_for_jvp", "torch.export"):
        importlib.import_module(module)
    torch.set_num_threads(1)
    replace_clocks()
    factories.install()
    tensors.install()
    cuda.install()
    profiler.install()
    timeline.on_launch += [recording.record_launch, observe.record_launch]
    memory.on_change.append(
        lambda change, host: recording.record_allocation(
            clock.now_s(), change, host, memory.allocator.allocated_bytes, memory.allocator.reserved_bytes
        )
    )
    autocast.install()
    memory_history.install()
    enter_in_every_thread()
    refuse_what_needs_a_driver()
    mode.__enter__()
    check_that_it_works()
    memory.allocator.reset_peaks()
    # A full collection walks all of torch's objects, 150 ms that would fall into some learner's measurement.
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # libraries that count what is left at exit would complain


def replace_clocks() -> None:
    """Put time.* on the lab's clock, also where timeit keeps perf_counter as a default argument."""
    for name, function in patched_clocks(clock).items():
        setattr(time, name, function)
    timeit.default_timer = time.perf_counter
    functions: tuple[Any, ...] = (timeit.Timer.__init__, timeit.timeit, timeit.repeat)
    for function in functions:
        function.__defaults__ = tuple(
            time.perf_counter if value is REAL["perf_counter"] else value for value in function.__defaults__
        )


def check_version() -> None:
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < OLDEST:
        raise UnsupportedTorch(
            f"The simulated GPU needs torch {OLDEST[0]}.{OLDEST[1]} or newer, this is {torch.__version__}. "
            "Upgrade it: pip install --upgrade torch"
        )


def check_that_it_works() -> None:
    """One small step with known results: a PyTorch whose internals moved fails here, not with a wrong number."""
    launches = timeline.launches
    weight = torch.ones(2, 2, device="cuda", requires_grad=True)
    (weight @ weight).sum().backward()
    seen = weight.device.type, timeline.launches > launches, weight.grad is not None and weight.grad.is_cuda
    if seen != ("cuda", True, True) or weight.grad.tolist() != [[4.0, 4.0], [4.0, 4.0]]:  # type: ignore[union-attr]
        raise UnsupportedTorch(
            f"The simulated GPU doesn't work with torch {torch.__version__} (it saw {seen}). "
            "Use a version that README names as tested."
        )


def enter_in_every_thread() -> None:
    """Dispatch modes belong to a thread: let each new one have its own."""
    begin = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def beginning(self: threading.Thread) -> None:
        with SimulatedGpu():
            begin(self)

    threading.Thread._bootstrap_inner = beginning  # type: ignore[attr-defined]


def refuse_what_needs_a_driver() -> None:
    torch.compile = refusing("torch.compile")
    torch.export.export = refusing("torch.export.export")
    torch.nn.DataParallel = refusing("torch.nn.DataParallel")  # type: ignore[misc,assignment]
    torch.profiler.profile.export_memory_timeline = refusing("export_memory_timeline")  # type: ignore[method-assign]
