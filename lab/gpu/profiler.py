"""Lets torch.profiler see the simulated GPU: its kernels, copies, runtime calls and memory.

PyTorch keeps all the work on its own events: linking, averages, tables. We hand in events that answer the same
questions as its own, at the one place where it reads them (torch.autograd.profiler.profile._parse_kineto_results).
"""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

import torch
from torch._C._autograd import DeviceType
from torch.autograd import profiler as autograd_profiler
from torch.profiler import ProfilerActivity

from lab.gpu import chrome_trace, internals, recording
from lab.gpu.merge import Interval, Merged, merge
from lab.gpu.recording import MEMORY, RUNTIME_CALLS, Recording

FIRST_CORRELATION = 10**9  # above every id that kineto gives


class Event:
    """A profiler event: the answers given here, and for every other question those of a real event."""

    def __init__(self, template: Any, **answers: Any) -> None:
        self.template = template
        self.answers = answers

    def __getattr__(self, name: str) -> Any:
        answers = self.__dict__["answers"]
        if name in answers:
            return lambda: answers[name]
        return getattr(self.__dict__["template"], name)


class Result:
    """A profiler's result with other events."""

    def __init__(self, result: Any, events: list[Any]) -> None:
        self.result = result
        self.merged_events = events

    def events(self) -> list[Any]:
        return self.merged_events

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["result"], name)


def install() -> None:
    profile: Any = autograd_profiler.profile
    initialise: Any = profile.__init__
    start: Any = profile._start_trace
    leave: Any = profile.__exit__
    parse: Any = profile._parse_kineto_results
    export: Any = profile.export_chrome_trace
    takes_use_cuda = "use_cuda" in inspect.signature(initialise).parameters

    @wraps(initialise)
    def initialising(
        self: Any, enabled: bool = True, *, use_device: Any = None, use_cpu: bool = True, **kwargs: Any
    ) -> None:
        if takes_use_cuda and kwargs.pop("use_cuda", False):
            use_device = "cuda"
        simulated = use_device == "cuda"
        # The build may not know CUDA, and the driver isn't there: kineto records the CPU side only.
        initialise(self, enabled, use_device=None if simulated else use_device, use_cpu=use_cpu or simulated, **kwargs)
        self.lab_recording = None
        self.lab_handed_in = None  # how many launches PyTorch was told of, once it has asked
        self.lab_shows_cpu = use_cpu
        if simulated and enabled:
            self.use_device = "cuda"

    @wraps(start)
    def starting(self: Any) -> None:
        self.lab_recording = Recording()
        start(self)
        recording.active.append(self.lab_recording)

    @wraps(leave)
    def leaving(self: Any, *error: Any) -> Any:
        done = leave(self, *error)
        if getattr(self, "lab_recording", None) in recording.active:
            recording.active.remove(self.lab_recording)
        return done

    @wraps(parse)
    def parsing(self: Any, result: Any, *args: Any, **kwargs: Any) -> Any:
        if self.lab_recording is None:
            return parse(self, result, *args, **kwargs)
        return parse(self, Result(result, events_of(self, result)), *args, **kwargs)

    ensure: Any = profile._ensure_function_events

    @wraps(ensure)
    def ensuring(self: Any) -> None:
        ensure(self)
        if self.lab_recording is None or self.use_device != "cuda" or not self.lab_recording.launches:
            return
        if not self.kineto_results:  # it still records, and PyTorch answers with an empty table
            return
        # A profile that another one cut short has events of neither kind, and is right to show no kernels.
        if self.lab_handed_in != 0 and not any(e.device_type == DeviceType.CUDA for e in self._function_events):
            raise internals.moved("its profiler shows none of the kernels that ran")

    @wraps(export)
    def exporting(self: Any, path: str, *args: Any, **kwargs: Any) -> Any:
        done = export(self, path, *args, **kwargs)
        if self.lab_recording is not None:
            chrome_trace.complete(path, self.lab_recording, self.use_device == "cuda", self.lab_shows_cpu)
        return done

    for replacement in (initialising, starting, leaving, parsing, ensuring, exporting):
        setattr(profile, replacement.__name__, replacement)  # wraps() has given it the original's name
    for module, name in (
        (torch.autograd, "_supported_activities"),
        (torch.profiler.profiler, "supported_activities"),
        (torch.profiler, "supported_activities"),
    ):
        setattr(module, name, lambda: {ProfilerActivity.CPU, ProfilerActivity.CUDA})


def events_of(profile: Any, result: Any) -> list[Any]:
    """The events of a finished profile as a GPU would have made them."""
    raw = result.events()
    recorded: Recording = profile.lab_recording
    intervals = [
        Interval(
            index,
            event.name(),
            event.start_ns(),
            event.end_ns(),
            event.start_thread_id(),
            event.name() != MEMORY and not event.is_user_annotation() and not is_frame(event),
            is_frame(event),
        )
        for index, event in enumerate(raw)
    ]
    merged = merge(intervals, recorded, result.trace_start_ns())
    profile.lab_handed_in = len(merged.launches)
    kept = [
        Event(raw[index], start_ns=begin, end_ns=end, duration_ns=end - begin, cuda_elapsed_us=-1)
        for index, begin, end in merged.kept
    ]
    if merged.axis is None or not raw:
        return kept
    if profile.profile_memory:
        kept = without_frees_of_gpu_memory(kept, recorded, merged)
    if profile.use_device != "cuda":
        return kept
    if not profile.lab_shows_cpu:
        kept = []
    return kept + simulated_events(raw, merged, recorded, profile)


def is_frame(event: Any) -> bool:
    """Whether the event is a Python function. torch 2.8 doesn't say, but names such as "train.py(12): step" do."""
    name = event.name()
    by_name = ".py(" in name or name.startswith(("nn.Module: ", "<built-in ", "<string>("))
    return bool(getattr(event, "is_python_function", lambda: by_name)())


def simulated_events(raw: list[Any], merged: Merged, recorded: Recording, profile: Any) -> list[Any]:
    events = []
    correlation = FIRST_CORRELATION
    for placed in merged.launches:
        correlation += 1
        work = placed.launch.work
        op = raw[placed.op] if placed.op is not None else None
        link = op.correlation_id() if op is not None else 0
        events.append(
            event(
                raw[0],
                name=work.name,
                start_ns=placed.begin_ns,
                end_ns=placed.end_ns,
                device_type=DeviceType.CUDA,
                device_resource_id=placed.launch.stream,
                correlation_id=correlation,
                linked_correlation_id=link,
                activity_type="kernel" if work.kind == "kernel" else f"gpu_{work.kind}",
            )
        )
        if profile.lab_shows_cpu:
            thread = op.start_thread_id() if op is not None else placed.thread
            events.append(
                event(
                    raw[0],
                    name=RUNTIME_CALLS[work.kind],
                    start_ns=placed.launch_begin_ns,
                    end_ns=placed.launch_end_ns,
                    correlation_id=correlation,
                    linked_correlation_id=link,
                    start_thread_id=thread,
                    end_thread_id=thread,
                    activity_type="cuda_runtime",
                )
            )
    if profile.lab_shows_cpu:
        for wait in merged.waits:
            correlation += 1
            events.append(
                event(
                    raw[0],
                    name=wait.runtime,
                    start_ns=wait.begin_ns,
                    end_ns=wait.end_ns,
                    correlation_id=correlation,
                    linked_correlation_id=raw[wait.op].correlation_id() if wait.op is not None else 0,
                    start_thread_id=wait.thread,
                    end_thread_id=wait.thread,
                    activity_type="cuda_runtime",
                )
            )
    events += annotation_events(raw, merged)
    if profile.profile_memory:
        events += memory_events(raw, merged, recorded)
    return events


def annotation_events(raw: list[Any], merged: Merged) -> list[Any]:
    """What each record_function and ProfilerStep spans on the GPU, from the first to the last of its kernels."""
    return [
        event(
            raw[0],
            name=raw[span.index].name(),
            start_ns=span.begin_ns,
            end_ns=span.end_ns,
            device_type=DeviceType.CUDA,
            device_resource_id=span.stream,
            is_user_annotation=True,
            activity_type="gpu_user_annotation",
        )
        for span in merged.spans(lambda index: raw[index].is_user_annotation())
    ]


def memory_events(raw: list[Any], merged: Merged, recorded: Recording) -> list[Any]:
    """What the simulated GPU's memory gave and took back, as PyTorch's "[memory]" events."""
    axis = merged.axis
    assert axis is not None
    events = []
    for allocation in recorded.allocations:
        at_ns = axis.ns(recorded.allocated_at_s(allocation))
        change = allocation.change_bytes
        events.append(
            event(raw[0], name=MEMORY, start_ns=at_ns, end_ns=at_ns, device_type=DeviceType.CUDA, nbytes=change)
        )
    return events


def without_frees_of_gpu_memory(kept: list[Event], recorded: Recording, merged: Merged) -> list[Event]:
    """Drop the CPU allocator's record of giving back what stood for GPU memory."""
    axis = merged.axis
    assert axis is not None
    freed: dict[int, list[int]] = {}
    for allocation in recorded.allocations:
        if allocation.change_bytes < 0:
            freed.setdefault(allocation.host_bytes, []).append(axis.ns(allocation.at_s))
    if not freed:
        return kept
    candidates: dict[int, list[Event]] = {}
    for candidate in kept:
        if candidate.name() == MEMORY and candidate.nbytes() in freed and candidate.device_type() == DeviceType.CPU:
            candidates.setdefault(candidate.nbytes(), []).append(candidate)
    dropped: set[int] = set()
    for size, times in freed.items():
        waiting = sorted(candidates.get(size, []), key=lambda found: found.start_ns())
        for at_ns in sorted(times):
            nearest = min(waiting, key=lambda found: abs(found.start_ns() - at_ns), default=None)
            if nearest is not None:
                waiting.remove(nearest)
                dropped.add(id(nearest))
    return [found for found in kept if id(found) not in dropped]


def event(template: Any, **answers: Any) -> Event:
    """An event of the simulated GPU; what it doesn't say is empty, never the template's."""
    empty: dict[str, Any] = {
        "overload_name": "",
        "device_type": DeviceType.CPU,
        "device_index": 0,
        "device_resource_id": 0,
        "correlation_id": 0,
        "linked_correlation_id": 0,
        "start_thread_id": 0,
        "end_thread_id": 0,
        "fwd_thread_id": 0,
        "shapes": [],
        "structured_input_shapes": [],
        "structured_input_strides": [],
        "concrete_inputs": [],
        "kwinputs": {},
        "dtypes": [],
        "stack": [],
        "scope": 0,
        "sequence_nr": -1,
        "flops": 0,
        "nbytes": 0,
        "is_async": False,
        "is_hidden_event": False,
        "is_user_annotation": False,
        "is_python_function": False,
        "metadata_json": "",
        "typed_metadata": None,
        "extra_meta": None,
        "flow_id": 0,
        "flow_type": 0,
        "flow_start": False,
        "external_id": answers.get("linked_correlation_id", 0),
        "python_id": -1,
        "python_parent_id": -1,
        "python_module_id": -1,
        "cuda_elapsed_us": -1,
        "duration_ns": answers["end_ns"] - answers["start_ns"],
    }
    return Event(template, **(empty | answers))
