"""torch.cuda.Stream and torch.cuda.Event for the simulated GPU."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import torch

from lab.gpu.device import clock, timeline
from lab.gpu.dispatch import CUDA, wait_for_gpu
from lab.gpu.timeline import DEFAULT_STREAM


class Stream:
    """Work on one stream runs in order; different streams run at the same time."""

    def __init__(self, device: Any = None, priority: int = 0, *, _number: int | None = None) -> None:
        self._number = timeline.new_stream() if _number is None else _number
        self._outer: list[int] = []
        self.priority = priority

    @property
    def device(self) -> torch.device:
        return CUDA

    @property
    def device_index(self) -> int:
        return 0

    @property
    def stream_id(self) -> int:
        return 0 if self._number == DEFAULT_STREAM else self._number

    @property
    def cuda_stream(self) -> int:
        return self.stream_id

    def query(self) -> bool:
        """Whether all work on this stream is finished."""
        return not timeline.busy(self._number)

    def is_capturing(self) -> bool:
        """Whether a CUDA graph is captured: never, graphs aren't simulated."""
        return False

    def synchronize(self) -> None:
        """Wait for all work on this stream."""
        wait_for_gpu("cudaStreamSynchronize", timeline.done_at_s(self._number))

    def record_event(self, event: Event | None = None) -> Event:
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        self.wait_event(stream.record_event())

    def __enter__(self) -> Stream:
        self._outer.append(timeline.stream)
        timeline.stream = self._number
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        timeline.stream = self._outer.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other._number == self._number

    def __hash__(self) -> int:
        return hash(self._number)

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device=cuda:0 cuda_stream={self.cuda_stream:#x}>"


class Event:
    """A mark on a stream; two of them with enable_timing measure the milliseconds between."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        self.enable_timing = enable_timing
        self._at_s: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        number = timeline.stream if stream is None else stream._number
        self._at_s = max(clock.now_s(), timeline.done_at_s(number))

    def wait(self, stream: Stream | None = None) -> None:
        """Hold back what is queued on the stream from now on until the event has happened."""
        if self._at_s is not None:
            timeline.hold(timeline.stream if stream is None else stream._number, self._at_s)

    def query(self) -> bool:
        return self._at_s is None or self._at_s <= clock.now_s()

    def synchronize(self) -> None:
        if self._at_s is not None:
            wait_for_gpu("cudaEventSynchronize", self._at_s)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to the other. Raises ValueError and RuntimeError as PyTorch does."""
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._at_s is None or end_event._at_s is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not (self.query() and end_event.query()):
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        return (end_event._at_s - self._at_s) * 1000

    def __repr__(self) -> str:
        return "<torch.cuda.Event uninitialized>" if self._at_s is None else "<torch.cuda.Event>"


class AnyStream(Stream):
    """torch.Stream: a stream of whatever accelerator there is."""


class AnyEvent(Event):
    """torch.Event: an event of whatever accelerator there is."""

    def __init__(
        self,
        device: Any = None,
        *,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        super().__init__(enable_timing)


class stream:  # noqa: N801 - torch.cuda.stream is its name
    """Use a stream inside a with block; None is no change."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self.stream.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.stream is not None:
            self.stream.__exit__(kind, error, traceback)


def current_stream(device: Any = None) -> Stream:
    return Stream(_number=timeline.stream)


def default_stream(device: Any = None) -> Stream:
    return Stream(_number=DEFAULT_STREAM)


def set_stream(stream: Stream) -> None:
    timeline.stream = stream._number


def synchronize(device: Any = None) -> None:
    """Wait for everything queued on the GPU."""
    if device is not None and torch.device(device if not isinstance(device, int) else f"cuda:{device}").type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    wait_for_gpu("cudaDeviceSynchronize", timeline.done_at_s())
