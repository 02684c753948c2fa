"""Small traces for the tests, as PyTorch writes them: made of host and device events whose times are chosen."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Event = dict[str, Any]

HOST = 100
LATENCY_US = 3.0


def event(category: str, name: str, ts: float, dur: float, *, tid: int = HOST, **arguments: Any) -> Event:
    """One event of the host, or of a device where the arguments say which."""
    pid = arguments.get("device", HOST)
    place = arguments.get("stream", tid)
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": place, "ts": ts, "dur": dur, "args": arguments}


@dataclass
class Recorder:
    """Plays a program: a host that goes on as time passes, and streams that work off what is launched."""

    now: float = 1_000.0
    events: list[Event] = field(default_factory=list)
    free: dict[tuple[int, int], float] = field(default_factory=dict)
    launched: int = 0
    tid: int = HOST

    def host(self, category: str, name: str, dur: float, **arguments: Any) -> None:
        """Something of the host that takes a while."""
        self.events.append(event(category, name, self.now, dur, tid=self.tid, **arguments))
        self.now += dur

    def nothing(self, dur: float) -> None:
        """A while in which nothing is recorded."""
        self.now += dur

    def load(self, dur: float, iterator: str = "_SingleProcessDataLoaderIter") -> None:
        self.host("user_annotation", f"enumerate(DataLoader)#{iterator}.__next__", dur)

    def launch(
        self,
        dur: float,
        name: str = "gemm",
        *,
        category: str = "kernel",
        call: str = "cudaLaunchKernel",
        call_us: float = 5.0,
        device: int = 0,
        stream: int = 7,
        not_before: float = 0.0,
    ) -> float:
        """Launch work; returns when it will be done."""
        self.launched += 1
        begin, call_begin = self.now + call_us + LATENCY_US, self.now
        begin = max(begin, self.free.get((device, stream), 0.0), not_before)
        self.host("cuda_runtime", call, call_us, correlation=self.launched)
        self.events.append(event(category, name, begin, dur, device=device, stream=stream, correlation=self.launched))
        assert begin >= call_begin
        self.free[device, stream] = begin + dur
        return begin + dur

    def wait(self, call: str = "cudaStreamSynchronize") -> None:
        """Wait until everything that is launched is done."""
        self.host("cuda_runtime", call, max(max(self.free.values(), default=0.0) - self.now, 0.0) + 1.0)

    def step(self, number: int, begin: float) -> None:
        """Close a step that began earlier."""
        name = f"ProfilerStep#{number}"
        self.events.append(event("user_annotation", name, begin, self.now - begin, tid=self.tid))
        ends = max(self.free.values(), default=self.now)
        self.events.append(event("gpu_user_annotation", name, begin, ends - begin, device=0, stream=7))


def input_bound(steps: int = 5) -> list[Event]:
    """Each step reads a batch for 6 ms, then launches a kernel of 4 ms and waits for it."""
    recorder = Recorder()
    for number in range(steps):
        begin = recorder.now
        recorder.load(6_000)
        recorder.host("cpu_op", "aten::mm", 10)
        recorder.launch(4_000)
        recorder.wait()
        recorder.step(number, begin)
    return recorder.events


def as_text(events: Iterable[Event], **beside: Any) -> str:
    """As Kineto writes a trace: some keys, the events each on lines of its own, the name at the end."""
    head = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "Test GPU", "totalGlobalMem": 1}],
        **beside,
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": 0,
    }
    written = ",\n  ".join("{\n    " + json.dumps(each)[1:-1] + "\n  }" for each in events)
    return f'{json.dumps(head, indent=2)[:-2]},\n  "traceEvents": [\n  {written}\n  ],\n  "traceName": "test.json"\n}}'


def write(path: Path, events: Iterable[Event], **beside: Any) -> Path:
    path.write_text(as_text(events, **beside), encoding="utf-8")
    return path
