"""Writes down what a program does with the GPU: waits, reads, copies, launches, phases, clocks, memory, labels.

The same events are seen on a real GPU and on the simulated one, except `launch`, which only the simulated GPU knows.
"""

from __future__ import annotations

import sys
import threading
import time
import timeit
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.gpu.timeline import Launch

LIMIT = 200_000  # events; a program that does more is cut off there, and the last event says so

events: list[dict[str, Any]] = []
observing = False
began_s = 0.0


class Inside(threading.local):
    """Whether this thread is inside a call that is already written down."""

    call = False


inside = Inside()
lab_time_s: Callable[[], float] = time.perf_counter
gpu_left_s: Callable[[], float] = lambda: 0.0  # noqa: E731
allocated_bytes = 0
"""On the simulated GPU, now."""
most_allocated_bytes = 0
"""The most since the launch before."""


def start() -> None:
    """Forget what was seen and begin to observe."""
    global observing, began_s, most_allocated_bytes
    events.clear()
    most_allocated_bytes = allocated_bytes
    began_s = lab_time_s()
    observing = True


def finish() -> list[dict[str, Any]]:
    """Stop observing, return the events in order: plain data, ready for JSON."""
    global observing
    observing = False
    seen = list(events)
    events.clear()
    return seen


def record(what: str, **data: Any) -> None:
    """Add an event, if one is observing. Values must be plain data."""
    if not observing or len(events) > LIMIT:
        return
    if len(events) == LIMIT:
        what, data = "cut_off", {"limit": LIMIT}
    events.append({"n": len(events), "at_s": lab_time_s() - began_s, "what": what, **data})


def note_allocated(size_bytes: int) -> None:
    """Keep in mind how much memory of the simulated GPU is allocated now; the next launch says it."""
    global allocated_bytes, most_allocated_bytes
    allocated_bytes = size_bytes
    most_allocated_bytes = max(most_allocated_bytes, size_bytes)


def record_launch(launch: Launch) -> None:
    """Add a kernel or copy of the simulated GPU."""
    global most_allocated_bytes
    if not observing:
        return
    work = launch.work
    record(
        "launch",
        kind=work.kind,
        name=work.name,
        op=launch.op,
        begin_s=launch.begin_s - began_s,
        end_s=launch.end_s - began_s,
        stream=launch.stream,
        bytes=work.bytes,
        flops=work.flops,
        dtype=work.dtype,
        allocated_bytes=allocated_bytes,
        peak_bytes=most_allocated_bytes,
    )
    most_allocated_bytes = allocated_bytes


def install(simulated: bool) -> None:
    """Wrap the calls to be seen, once the GPU is in place."""
    import torch

    from lab import host_reads

    global lab_time_s, gpu_left_s
    lab_time_s = time.perf_counter
    if simulated:
        from lab.gpu.device import clock, timeline

        lab_time_s = clock.now_s
        gpu_left_s = timeline.left_s
    else:
        # A real GPU can be asked whether it is done, not how long it still needs.
        gpu_left_s = lambda: -1.0 if torch.cuda.is_initialized() and not torch.cuda.current_stream().query() else 0.0  # noqa: E731
    observe_clocks()
    observe_waits(torch)
    host_reads.install(torch)
    observe_memory(torch)
    observe_profiler(torch)
    observe_labels(torch)
    observe_backward(torch)


def observe_clocks() -> None:
    for name in (
        "perf_counter",
        "perf_counter_ns",
        "monotonic",
        "monotonic_ns",
        "time",
        "time_ns",
        "process_time",
        "process_time_ns",
    ):
        setattr(time, name, clock_read(f"time.{name}", getattr(time, name)))
    timeit.default_timer = time.perf_counter


def clock_read(call: str, read: Callable[[], Any]) -> Callable[[], Any]:
    scale = 1e-9 if call.endswith("_ns") else 1.0

    @wraps(read)
    def reading() -> Any:
        if not observing or inside.call:
            return read()
        module = sys._getframe(1).f_globals.get("__name__", "")
        if module.startswith(("torch.", "lab.", "threading", "multiprocessing", "queue", "asyncio", "logging")):
            return read()
        left_s = gpu_left_s()
        value = read()
        record("clock_read", call=call, value_s=value * scale, gpu_busy=left_s != 0.0, gpu_left_s=left_s)
        return value

    return reading


def waiting(call: str, function: Callable[..., Any], what: tuple[str, ...] = ("wait",)) -> Callable[..., Any]:
    """Write down a call that makes the host wait; calls that it makes itself are part of it."""

    @wraps(function)
    def observed(*args: Any, **kwargs: Any) -> Any:
        if not observing or inside.call:
            return function(*args, **kwargs)
        inside.call = True
        begin = lab_time_s()
        try:
            return function(*args, **kwargs)
        finally:
            inside.call = False
            for kind in what:
                record(kind, call=call, **({"waited_s": lab_time_s() - begin} if kind == "wait" else {}))

    return observed


def polling(call: str, query: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Write down a wait by asking again and again, with nothing else in between, until the answer is yes."""

    @wraps(query)
    def asking(self: Any) -> bool:
        done = query(self)
        if not observing or inside.call:
            return done
        asked_at, begin_s = getattr(self, "asked_in_vain", (-1, 0.0))
        if not done and asked_at != len(events):
            self.asked_in_vain = len(events), lab_time_s()
        if done and asked_at == len(events):
            record("wait", call=call, waited_s=lab_time_s() - begin_s)
        return done

    return asking


def observe_waits(torch: Any) -> None:
    cuda, accelerator = torch.cuda, torch.accelerator
    cuda.synchronize = waiting("torch.cuda.synchronize", cuda.synchronize)
    accelerator.synchronize = waiting("torch.accelerator.synchronize", accelerator.synchronize)
    cuda.Stream.synchronize = waiting("torch.cuda.Stream.synchronize", cuda.Stream.synchronize)
    cuda.Event.synchronize = waiting("torch.cuda.Event.synchronize", cuda.Event.synchronize)
    cuda.Stream.query = polling("torch.cuda.Stream.query", cuda.Stream.query)
    cuda.Event.query = polling("torch.cuda.Event.query", cuda.Event.query)
    record_event, elapsed_time = cuda.Event.record, cuda.Event.elapsed_time

    @wraps(record_event)
    def recording_event(self: Any, *args: Any, **kwargs: Any) -> Any:
        record("event_record", call="torch.cuda.Event.record", timing=bool(getattr(self, "enable_timing", True)))
        return record_event(self, *args, **kwargs)

    @wraps(elapsed_time)
    def reading_elapsed_time(self: Any, end_event: Any) -> Any:
        value = elapsed_time(self, end_event)
        record("elapsed_time", value_ms=value)
        return value

    cuda.Event.record, cuda.Event.elapsed_time = recording_event, reading_elapsed_time


def observe_memory(torch: Any) -> None:
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
        for module, prefix in ((torch.cuda, "torch.cuda"), (torch.accelerator, "torch.accelerator")):
            if hasattr(module, name):
                setattr(module, name, memory_read(f"{prefix}.{name}", getattr(module, name)))
    for name in ("reset_peak_memory_stats", "reset_max_memory_allocated"):
        for module, prefix in ((torch.cuda, "torch.cuda"), (torch.accelerator, "torch.accelerator")):
            if hasattr(module, name):
                setattr(module, name, peak_reset(f"{prefix}.{name}", getattr(module, name), torch.cuda.memory_stats))
    for module, prefix in ((torch.cuda, "torch.cuda"), (torch.accelerator, "torch.accelerator")):
        if hasattr(module, "empty_cache"):
            module.empty_cache = cache_emptied(f"{prefix}.empty_cache", module.empty_cache)


def memory_read(call: str, function: Callable[..., int]) -> Callable[..., int]:
    @wraps(function)
    def reading(*args: Any, **kwargs: Any) -> int:
        value = function(*args, **kwargs)
        record("memory_read", call=call, value_bytes=int(value))
        return value

    return reading


def peak_reset(call: str, function: Callable[..., None], statistics: Callable[[], Any]) -> Callable[..., None]:
    @wraps(function)
    def resetting(*args: Any, **kwargs: Any) -> None:
        peak_bytes = int(statistics().get("allocated_bytes.all.peak", 0))  # nobody could read it afterwards
        function(*args, **kwargs)
        record("peak_reset", call=call, peak_bytes=peak_bytes)

    return resetting


def cache_emptied(call: str, function: Callable[..., None]) -> Callable[..., None]:
    @wraps(function)
    def emptying(*args: Any, **kwargs: Any) -> None:
        function(*args, **kwargs)
        record("cache_emptied", call=call)

    return emptying


def observe_profiler(torch: Any) -> None:
    base = torch.profiler.profiler._KinetoProfile
    prepare_trace, start_trace, stop_trace = base.prepare_trace, base.start_trace, base.stop_trace
    make, step, export = torch.profiler.profile.__init__, torch.profiler.profile.step, base.export_chrome_trace

    def describe(self: Any) -> dict[str, Any]:
        return {
            "activities": sorted(str(activity).split(".")[-1] for activity in self.activities),
            "profile_memory": bool(self.profile_memory),
            "record_shapes": bool(self.record_shapes),
            "with_stack": bool(self.with_stack),
            "scheduled": bool(getattr(self, "record_steps", False)),
            "gpu_busy": gpu_left_s() != 0.0,
        }

    @wraps(make)
    def making(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        record("profiler_made", scheduled=bool(self.record_steps))

    @wraps(prepare_trace)
    def preparing(self: Any) -> None:
        record("profiler_prepare")  # with a schedule: the first of its warm-up steps begins
        prepare_trace(self)

    @wraps(start_trace)
    def starting(self: Any) -> None:
        record("profiler_start", **describe(self))
        start_trace(self)

    @wraps(stop_trace)
    def stopping(self: Any) -> None:
        record("profiler_stop", **describe(self))
        stop_trace(self)

    @wraps(step)
    def stepping(self: Any) -> None:
        record("profiler_step")
        step(self)

    @wraps(export)
    def exporting(self: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        done = export(self, path, *args, **kwargs)
        # Where the folder doesn't exist, PyTorch writes nothing and raises nothing.
        record("trace_export", path=str(path), written=Path(path).is_file())
        return done

    base.prepare_trace, base.start_trace, base.stop_trace = preparing, starting, stopping
    torch.profiler.profile.__init__ = making
    torch.profiler.profile.step, base.export_chrome_trace = stepping, exporting


def observe_labels(torch: Any) -> None:
    """Regions named by the program. PyTorch labels its optimizers' calls and the profiler's steps itself."""
    label = torch.autograd.profiler.record_function
    make, enter, leave = label.__init__, label.__enter__, label.__exit__

    @wraps(make)
    def making(self: Any, name: Any, *args: Any, **kwargs: Any) -> None:
        make(self, name, *args, **kwargs)
        record_label("made", name)

    @wraps(enter)
    def entering(self: Any) -> Any:
        record_label("entered", self.name)
        self.entered_s = lab_time_s() if observing and phase_of(self.name) else None
        return enter(self)

    @wraps(leave)
    def leaving(self: Any, *error: Any) -> Any:
        left = leave(self, *error)
        if (entered_s := getattr(self, "entered_s", None)) is not None:
            record("host_phase", kind=phase_of(self.name), lasted_s=lab_time_s() - entered_s)
        return left

    label.__init__, label.__enter__, label.__exit__ = making, entering, leaving


PHASES = {"Optimizer.step#": "optimizer", "enumerate(DataLoader)#": "data"}


def phase_of(name: object) -> str | None:
    """What the host does while it is in a region that PyTorch names itself."""
    return next((kind for begin, kind in PHASES.items() if str(name).startswith(begin)), None)


def observe_backward(torch: Any) -> None:
    backward = torch.autograd.backward

    @wraps(backward)
    def going_backward(*args: Any, **kwargs: Any) -> Any:
        if not observing:
            return backward(*args, **kwargs)
        began_s = lab_time_s()
        try:
            return backward(*args, **kwargs)
        finally:
            record("host_phase", kind="backward", lasted_s=lab_time_s() - began_s)

    torch.autograd.backward = going_backward


def record_label(phase: str, name: object) -> None:
    if not str(name).startswith(("Optimizer.", "ProfilerStep#", "enumerate(DataLoader)")):
        record("label", phase=phase, name=str(name)[:200])
