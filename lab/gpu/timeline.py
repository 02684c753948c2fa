"""What the simulated GPU does when: streams that work through kernels and copies, one after another."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from lab.gpu.card import Card
from lab.gpu.clock import Clock

Kind = Literal["kernel", "memcpy", "memset"]
DEFAULT_STREAM = 7  # the number under which CUDA's profiler shows the default stream


@dataclass(frozen=True)
class Work:
    """One kernel or copy before it is placed on a stream."""

    kind: Kind
    name: str
    duration_s: float
    bytes: int = 0
    flops: int = 0
    dtype: str = ""


@dataclass(frozen=True)
class Launch:
    """One kernel or copy on a stream. Times are seconds on the lab's clock."""

    number: int
    work: Work
    op: str
    dispatch: int  # number of the dispatched op that launched it
    stream: int
    launched_s: float
    begin_s: float
    end_s: float


def engine_of(work: Work) -> str:
    if work.kind == "memcpy" and "DtoD" not in work.name:
        return "in" if "HtoD" in work.name else "out"
    return "compute"


@dataclass
class Timeline:
    """The streams of one GPU."""

    card: Card
    clock: Clock
    free_at_s: dict[int, float] = field(default_factory=lambda: {DEFAULT_STREAM: 0.0})
    of_thread: threading.local = field(default_factory=threading.local)
    launches: int = 0
    on_launch: list[Callable[[Launch], None]] = field(default_factory=list)
    queued: deque[float] = field(default_factory=deque)
    engines: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    @property
    def stream(self) -> int:
        """The current stream, which each thread has its own of."""
        return getattr(self.of_thread, "stream", DEFAULT_STREAM)

    @stream.setter
    def stream(self, number: int) -> None:
        self.of_thread.stream = number

    def launch(self, work: Work, op: str, dispatch: int) -> Launch:
        """Put work on the current stream. It starts when the stream is free; the caller goes on at once."""
        now = self.clock.now_s()
        begin = self.reserve(work, max(now, self.free_at_s[self.stream]))
        launch = Launch(self.launches, work, op, dispatch, self.stream, now, begin, begin + work.duration_s)
        self.launches += 1
        self.free_at_s[self.stream] = launch.end_s
        self.queued.append(launch.end_s)
        for listener in self.on_launch:
            listener(launch)
        return launch

    def reserve(self, work: Work, ready_s: float) -> float:
        """When the engine that does this work has time for it: one computes, one copies in, one copies out.

        Streams run side by side only on different engines. So two of them overlap a copy with a computation, and
        don't compute twice as fast.
        """
        busy = self.engines.setdefault(engine_of(work), [])
        now = self.clock.now_s()
        while busy and busy[0][1] <= now:
            busy.pop(0)
        at, begin = len(busy), ready_s
        if busy and ready_s < busy[-1][1]:
            for at, (from_s, _) in enumerate(busy):
                if begin + work.duration_s <= from_s:
                    break
                begin = max(begin, busy[at][1])
            else:
                at = len(busy)
        busy.insert(at, (begin, begin + work.duration_s))
        return begin

    def wait_for_queue(self) -> None:
        """A full launch queue blocks the host until the oldest launch is done, as CUDA's does."""
        now = self.clock.now_s()
        while self.queued and self.queued[0] <= now:
            self.queued.popleft()
        if len(self.queued) > self.card.launch_queue:
            self.clock.sleep_until(self.queued.popleft())

    def new_stream(self) -> int:
        """Make a stream, return its number."""
        number = max(self.free_at_s) + 6 if len(self.free_at_s) == 1 else max(self.free_at_s) + 1
        self.free_at_s[number] = 0.0
        return number

    def done_at_s(self, stream: int | None = None) -> float:
        """When the stream (all streams, without one) will have finished what is queued now."""
        return max(self.free_at_s.values()) if stream is None else self.free_at_s[stream]

    def busy(self, stream: int | None = None) -> bool:
        return self.done_at_s(stream) > self.clock.now_s()

    def left_s(self) -> float:
        """How long the GPU still needs for what is queued now."""
        return max(0.0, self.done_at_s() - self.clock.now_s())

    def hold(self, stream: int, until_s: float) -> None:
        """Let nothing more start on the stream before `until_s`: a stream waits for an event."""
        self.free_at_s[stream] = max(self.free_at_s[stream], until_s)
