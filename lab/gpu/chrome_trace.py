"""Completes an exported Chrome trace with the simulated GPU: its lanes, runtime calls, flows and device properties."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from lab.gpu.device import card
from lab.gpu.merge import Axis, Interval, Merged, merge
from lab.gpu.recording import MEMORY, RUNTIME_CALLS, Recording

CATEGORIES = {"kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}


def complete(path: str, recording: Recording, shows_gpu: bool, shows_cpu: bool) -> None:
    """Rewrite the trace at `path` (.json or .json.gz) on the lab's clock, with what the simulated GPU did."""
    file = Path(path)
    if not file.is_file():
        return  # kineto has already said why it wrote nothing
    packed = file.read_bytes()
    is_gzip = packed[:2] == b"\x1f\x8b"
    trace = json.loads(gzip.decompress(packed) if is_gzip else packed, strict=False)
    trace["traceEvents"] = merged_events(trace["traceEvents"], recording, shows_gpu, shows_cpu)
    if shows_gpu:
        trace["deviceProperties"] = [
            {
                "id": 0,
                "name": card.name,
                "totalGlobalMem": card.memory_bytes,
                "computeMajor": card.capability[0],
                "computeMinor": card.capability[1],
                "numSms": card.multiprocessors,
                "warpSize": 32,
            }
        ]
        trace["simulated"] = "The GPU in this trace is simulated: Profile First, lab.gpu"
    text = json.dumps(trace).encode()
    file.write_bytes(gzip.compress(text) if is_gzip else text)


def merged_events(
    events: list[dict[str, Any]], recording: Recording, shows_gpu: bool, shows_cpu: bool
) -> list[dict[str, Any]]:
    timed = [index for index, event in enumerate(events) if event.get("ph") == "X"]
    intervals = [
        Interval(
            index,
            str(event.get("name", "")),
            round(event["ts"] * 1000),
            round((event["ts"] + event.get("dur", 0)) * 1000),
            hash((event.get("pid"), event.get("tid"))),
            event.get("cat") == "cpu_op",
            event.get("cat") == "python_function",
        )
        for index in timed
        for event in (events[index],)
    ]
    if not intervals:
        return events
    origin = min(interval.begin_ns for interval in intervals)
    merged = merge(intervals, recording, origin)
    out = [event for event in events if event.get("ph") == "M"]
    if shows_cpu:
        for index, begin, end in merged.kept:
            out.append({**events[index], "ts": begin / 1000, "dur": (end - begin) / 1000})
        out += moved_marks(events, merged)
    if not shows_gpu or merged.axis is None:
        return out
    out += memory_marks(events, recording, merged.axis)
    out += lanes({placed.launch.stream for placed in merged.launches})
    out += annotation_lanes(events, merged)
    for number, placed in enumerate(merged.launches, start=1):
        out += launch_events(number, placed, events, shows_cpu)
    if shows_cpu:
        for wait in merged.waits:
            around = events[wait.op] if wait.op is not None else next(iter(events[i] for i in timed))
            out.append(
                {
                    "ph": "X",
                    "cat": "cuda_runtime",
                    "name": wait.runtime,
                    "pid": around["pid"],
                    "tid": around["tid"],
                    "ts": wait.begin_ns / 1000,
                    "dur": (wait.end_ns - wait.begin_ns) / 1000,
                    "args": {},
                }
            )
    return out


def moved_marks(events: list[dict[str, Any]], merged: Merged) -> list[dict[str, Any]]:
    """Instants, counters and flows between forward and backward, on the lab's clock."""
    marks = []
    axis = merged.axis
    for event in events:
        if event.get("ph") in ("X", "M") or "ts" not in event:
            continue
        at_ns = round(event["ts"] * 1000)
        if axis is None:
            marks.append(event)
        elif event.get("name") != MEMORY or not axis.in_marker(at_ns):
            marks.append({**event, "ts": axis.moved(at_ns) / 1000})
    return marks


def memory_marks(events: list[dict[str, Any]], recording: Recording, axis: Axis) -> list[dict[str, Any]]:
    """The simulated GPU's memory over time, if the profiler recorded memory at all."""
    template = next((event for event in events if event.get("name") == MEMORY), None)
    if template is None:
        return []
    return [
        {
            **template,
            "ts": axis.ns(recording.allocated_at_s(allocation)) / 1000,
            "args": {
                "Device Type": 1,  # c10::DeviceType::CUDA
                "Device Id": 0,
                "Bytes": allocation.change_bytes,
                "Total Allocated": allocation.allocated_bytes,
                "Total Reserved": allocation.reserved_bytes,
            },
        }
        for allocation in recording.allocations
    ]


def lanes(streams: set[int]) -> list[dict[str, Any]]:
    named: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "ts": 0, "args": {"name": "python"}},
        {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "ts": 0, "args": {"labels": "GPU 0 (simulated)"}},
        {"ph": "M", "name": "process_sort_index", "pid": 0, "tid": 0, "ts": 0, "args": {"sort_index": 5000000}},
    ]
    for stream in sorted(streams):
        named.append(
            {"ph": "M", "name": "thread_name", "pid": 0, "tid": stream, "ts": 0, "args": {"name": f"stream {stream}"}}
        )
    return named


def annotation_lanes(events: list[dict[str, Any]], merged: Merged) -> list[dict[str, Any]]:
    """What each record_function and ProfilerStep spans on the GPU."""
    return [
        {
            "ph": "X",
            "cat": "gpu_user_annotation",
            "name": events[span.index]["name"],
            "pid": 0,
            "tid": span.stream,
            "ts": span.begin_ns / 1000,
            "dur": (span.end_ns - span.begin_ns) / 1000,
            "args": {"External id": events[span.index].get("args", {}).get("External id", 0)},
        }
        for span in merged.spans(lambda index: events[index].get("cat") == "user_annotation")
    ]


def launch_events(number: int, placed: Any, events: list[dict[str, Any]], shows_cpu: bool) -> list[dict[str, Any]]:
    launch = placed.launch
    work = launch.work
    around = events[placed.op] if placed.op is not None else None
    external = around.get("args", {}).get("External id", 0) if around is not None else 0
    links = {"External id": external, "correlation": number}
    arguments: dict[str, Any] = {**links, "device": 0, "stream": launch.stream}
    if work.kind == "memcpy":
        arguments |= {
            "bytes": work.bytes,
            "memory bandwidth (GB/s)": round(work.bytes / max(work.duration_s, 1e-9) / 1e9, 3),
        }
    done = [
        {
            "ph": "X",
            "cat": CATEGORIES[work.kind],
            "name": work.name,
            "pid": 0,
            "tid": launch.stream,
            "ts": placed.begin_ns / 1000,
            "dur": (placed.end_ns - placed.begin_ns) / 1000,
            "args": arguments,
        }
    ]
    if shows_cpu and around is not None:
        place = {"pid": around["pid"], "tid": around["tid"], "ts": placed.launch_begin_ns / 1000}
        done.append(
            {
                "ph": "X",
                "cat": "cuda_runtime",
                "name": RUNTIME_CALLS[work.kind],
                **place,
                "dur": (placed.launch_end_ns - placed.launch_begin_ns) / 1000,
                "args": links,
            }
        )
        flow = {"id": number, "cat": "ac2g", "name": "ac2g"}
        done.append({"ph": "s", **flow, **place})
        done.append({"ph": "f", "bp": "e", **flow, "pid": 0, "tid": launch.stream, "ts": placed.begin_ns / 1000})
    return done
