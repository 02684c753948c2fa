"""Puts the simulated GPU into this process, for good."""

from __future__ import annotations

import atexit
import gc
import importlib
import sys
import threading
import timeit
import warnings
from functools import wraps
from typing import Any

import torch

from lab import observe
from lab.gpu import (
    autocast,
    cuda,
    factories,
    internals,
    memory_history,
    processes,
    profiler,
    recording,
    segments,
    system_clocks,
    tensors,
)
from lab.gpu.device import clock, memory, timeline
from lab.gpu.dispatch import SimulatedGpu
from lab.gpu.errors import NotSimulated, refusing

mode = SimulatedGpu()  # kept here: torch 2.8 loses a mode that nothing else refers to when it prints a tensor


def install() -> None:
    """Install once per process. Raises UnsupportedTorch where PyTorch's internals aren't as expected."""
    internals.check()
    # PyTorch imports these at first use. They must see torch as it is, so they come before the changes.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own use of what it deprecates
        for module in ("torch._dynamo", "torch._decomp.decompositions_for_jvp", "torch.export"):
            importlib.import_module(module)
    torch.set_num_threads(1)
    system_clocks.replace(clock)
    factories.install()
    tensors.install()
    cuda.install()
    profiler.install()
    let_benchmark_timers_wait()
    timeline.on_launch += [recording.record_launch, observe.record_launch]
    memory.on_change.append(
        lambda change, host: recording.record_allocation(
            clock.now_s(), change, host, memory.allocator.allocated_bytes, memory.allocator.reserved_bytes
        )
    )
    memory.on_change.append(lambda change, host: observe.note_allocated(memory.allocator.allocated_bytes))
    memory.on_place.append(
        lambda block, tensor: observe.note_given(
            block.address, block.size, tensor, memory.op, memory.differentiable, memory.has_inputs
        )
    )
    memory.allocator.on_action.append(observe.note_action)
    segments.install()
    autocast.install()
    memory_history.install()
    enter_in_every_thread()
    processes.install()
    refuse_what_needs_a_driver()
    mode.__enter__()
    check_that_it_works()
    memory.allocator.reset_peaks()
    # A full collection walks all of torch's objects, 150 ms that would fall into some learner's measurement.
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # libraries that count what is left at exit would complain


def let_benchmark_timers_wait() -> None:
    """torch.utils.benchmark.Timer decides at import whether to synchronize; it may have been imported before."""
    module: Any = sys.modules.get("torch.utils.benchmark.utils.timer")
    if module is None:
        return
    before = module.timer

    def timer() -> float:
        torch.cuda.synchronize()
        return timeit.default_timer()

    module.timer = timer
    initialise = module.Timer.__init__
    initialise.__defaults__ = tuple(timer if value is before else value for value in initialise.__defaults__)


def check_that_it_works() -> None:
    """One small step with known results: a PyTorch that works otherwise fails here, not with a wrong number."""
    launches, allocated = timeline.launches, memory.allocator.allocated_bytes
    weight = torch.ones(2, 2, device="cuda", requires_grad=True)
    (weight @ weight).sum().backward()
    grad = weight.grad
    seen = {
        "device": weight.device.type,
        "launches": timeline.launches > launches,
        "gradient on the GPU": grad is not None and grad.is_cuda,
        "memory counted": memory.allocator.allocated_bytes > allocated,
        "values": grad is not None and grad.tolist() == [[4.0, 4.0], [4.0, 4.0]],
        "waited": not timeline.busy(),
    }
    if seen != {"device": "cuda"} | dict.fromkeys(list(seen)[1:], True):
        raise internals.moved(f"a small step gives {seen}")


def enter_in_every_thread() -> None:
    """Dispatch modes belong to a thread: let each new one have its own."""
    begin = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def beginning(self: threading.Thread) -> None:
        with SimulatedGpu():
            begin(self)

    threading.Thread._bootstrap_inner = beginning  # type: ignore[attr-defined]


def refuse_nccl() -> None:
    if not torch.distributed.is_available():
        return
    begin = torch.distributed.init_process_group

    @wraps(begin)
    def beginning(backend: str | None = None, *args: Any, **kwargs: Any) -> None:
        if backend is None or "nccl" in str(backend):
            raise NotSimulated("NCCL (torch.distributed.init_process_group)")
        begin(backend, *args, **kwargs)

    torch.distributed.init_process_group = beginning


def refuse_what_needs_a_driver() -> None:
    torch.compile = refusing("torch.compile")
    torch.export.export = refusing("torch.export.export")
    torch.nn.DataParallel = refusing("torch.nn.DataParallel", torch.nn.DataParallel)  # type: ignore[misc]
    emit_nvtx = torch.autograd.profiler.emit_nvtx
    torch.autograd.profiler.emit_nvtx = refusing("torch.autograd.profiler.emit_nvtx", emit_nvtx)  # type: ignore[misc]
    refuse_nccl()
    triton = sys.modules.get("triton.runtime.jit")
    if triton is not None:
        triton.JITFunction.run = refusing("Triton kernels")
    extension = importlib.import_module("torch.utils.cpp_extension")
    for name in ("load", "load_inline", "CUDAExtension"):
        setattr(extension, name, refusing(f"torch.utils.cpp_extension.{name}"))
    torch.profiler.profile.export_memory_timeline = refusing("export_memory_timeline")  # type: ignore[method-assign]
