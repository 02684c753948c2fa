"""All that a trace tells about its devices, worked out once: for the verdict, and for who wants to draw it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lab.trace.attribute import DeviceTime, Host, Idle, device_times
from lab.trace.causes import CAUSES
from lab.trace.events import DEVICE, Kind, Trace
from lab.trace.links import Work, device_work
from lab.trace.steps import Window, window
from lab.trace.verdict import Bottleneck

BUSY: dict[Kind, Bottleneck] = {
    Kind.COMPUTE: "compute",
    Kind.COMMUNICATION: "communication",
    Kind.COPY: "copies",
}


@dataclass(frozen=True, eq=False)
class Examined:
    """A trace with its window, and what each device did in it."""

    trace: Trace
    work: Work
    window: Window
    host: Host
    times: list[DeviceTime]


class Segment(NamedTuple):
    """What a device did, or waited for, in a part of the window. Times are from the window's begin."""

    begin_us: float
    end_us: float
    busy: bool
    what: Bottleneck


@dataclass(frozen=True)
class Lane:
    """One device's window from begin to end, without holes."""

    device: int
    name: str
    segments: tuple[Segment, ...]


def examine(trace: Trace) -> Examined | None:
    """What the devices did; None where nothing of a device was recorded."""
    work = device_work(trace)
    if not len(work):
        return None
    found = window(trace, work)
    host = Host(trace, work, found)
    return Examined(trace, work, found, host, device_times(trace, work, found, host))


def lanes(examined: Examined) -> tuple[Lane, ...]:
    """The devices' windows to draw."""
    names = examined.trace.device_names
    return tuple(
        Lane(time.device, names.get(time.device, ""), tuple(_segments(examined.window, time)))
        for time in examined.times
    )


def _segments(examined: Window, time: DeviceTime) -> list[Segment]:
    begin = np.concatenate((time.busy_begin, time.idle_begin)) - examined.begin_ns
    end = np.concatenate((time.busy_end, time.idle_end)) - examined.begin_ns
    what = [BUSY[DEVICE[each]] for each in time.busy_kind.tolist()]
    what += [CAUSES[Idle(each)] for each in time.idle.tolist()]
    busy = len(time.busy_begin)
    return sorted(
        Segment(since / 1000, until / 1000, number < busy, each)
        for number, (since, until, each) in enumerate(zip(begin.tolist(), end.tolist(), what, strict=True))
    )
