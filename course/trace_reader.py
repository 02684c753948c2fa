"""Reads traces for the app, in a process of its own: `python -m course.trace_reader FILE...`.

It writes messages to its standard output: a line of JSON each, after some of them arrays as bytes, which it announces.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import IO, Any

import numpy as np

from course.trace_lanes import DeviceLanes, Lane, Lanes, plain_device
from lab.language import _, of_environment, use
from lab.trace.compare import compare
from lab.trace.diagnosis import diagnose_trace
from lab.trace.errors import TraceUnreadable
from lab.trace.examine import examine
from lab.trace.ranks import compare_ranks
from lab.trace.read import read
from lab.trace.verdict import Diagnosis

TOLD_EVERY_S = 0.1


def main(paths: list[str]) -> int:
    use(of_environment())
    out = sys.stdout.buffer
    found: list[Diagnosis] = []
    for path in paths:
        try:
            found.append(tell(out, path))
        except TraceUnreadable as error:
            say(out, {"unreadable": str(error)})
    ranks = compare_ranks(found) if len(found) > 1 else None
    comparison = compare(found[0], found[1]) if len(found) == 2 else None
    say(
        out,
        {
            "done": True,
            "ranks": ranks.summary if ranks is not None else None,
            "comparison": comparison.summary if comparison is not None else None,
        },
    )
    return 0


def tell(out: IO[bytes], path: str) -> Diagnosis:
    """Read one file and tell what is to be drawn of it."""
    told_s = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal told_s
        now_s = time.monotonic()
        if now_s - told_s >= TOLD_EVERY_S or done == total:
            told_s = now_s
            say(out, {"progress": [done, total], "file": Path(path).name})

    trace = read(path, progress)
    say(out, {"stage": _("working out what the GPU waited for"), "file": Path(path).name})
    diagnosis = diagnose_trace(trace, Path(path).name)
    examined = examine(trace)
    if examined is None:
        say(out, {"file": Path(path).name, "diagnosis": diagnosis.to_json(), "devices": 0})
        return diagnosis
    lanes = Lanes(examined)
    host, devices, marks = lanes.host(), list(lanes.devices()), lanes.marks()
    say(
        out,
        {
            "file": Path(path).name,
            "diagnosis": diagnosis.to_json(),
            "window_s": lanes.length_s,
            "steps": lanes.steps(),
            "marks": marks,
            "averages": lanes.averages.rows,
            "texts": list(lanes.texts.numbers),
            "devices": len(devices),
        },
        arrays_of("host", host),
    )
    for device in devices:
        say(out, plain_device(device), arrays_of_device(device))
    return diagnosis


def arrays_of_device(device: DeviceLanes) -> dict[str, np.ndarray[Any, Any]]:
    arrays = arrays_of("gaps", device.gaps) | arrays_of("together", device.together)
    for stream, lane in device.streams.items():
        arrays |= arrays_of(f"stream {stream}", lane)
    return arrays


def arrays_of(name: str, lane: Lane) -> dict[str, np.ndarray[Any, Any]]:
    arrays: dict[str, np.ndarray[Any, Any] | None] = {
        "begin_s": lane.begin_s,
        "end_s": lane.end_s,
        "kind": lane.kind,
        "name": lane.name,
        "busy_s": lane.busy_s,
        "op": lane.op,
        "count": lane.count,
    }
    return {f"{name} {part}": array for part, array in arrays.items() if array is not None}


def say(out: IO[bytes], message: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]] | None = None) -> None:
    """One message; of its arrays it says name, type and length in bytes, in the order in which they come."""
    raw = {
        name: np.ascontiguousarray(array, np.float64 if array.dtype.kind == "f" else np.int32).tobytes()
        for name, array in (arrays or {}).items()
    }
    kinds = {name: "d" if array.dtype.kind == "f" else "i" for name, array in (arrays or {}).items()}
    if raw:
        message = message | {"arrays": [[name, kinds[name], len(data)] for name, data in raw.items()]}
    out.write(json.dumps(message).encode() + b"\n")
    for data in raw.values():
        out.write(data)
    out.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
