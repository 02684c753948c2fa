"""The timed events of a trace in columns: times, what each is, and what links host and device."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum

import msgspec
import numpy as np
import numpy.typing as npt

from lab.language import N_, _, ngettext
from lab.trace.schema import Event, lenient, whole

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

WEEK_US = 7 * 24 * 3600 * 1e6


class Kind(IntEnum):
    """What an event is. The device's kinds come first."""

    COMPUTE = 0  # kernels and memsets
    COMMUNICATION = 1
    COPY = 2
    BLOCKING = 3  # a call of the runtime that waits for the device
    COPYING = 4  # a call of the runtime that copies, and may wait
    ALLOCATING = 5
    RUNTIME = 6
    LOADER = 7
    STEP = 8
    OPERATOR = 9
    ANNOTATION = 10
    PYTHON = 11
    IGNORED = 12


DEVICE = (Kind.COMPUTE, Kind.COMMUNICATION, Kind.COPY)
CALLS = (Kind.BLOCKING, Kind.COPYING, Kind.ALLOCATING, Kind.RUNTIME)

# Categories of all versions, in lower case. gpu_user_annotation repeats annotations, cuda_sync is no work of the GPU.
CATEGORIES = {
    **dict.fromkeys(("kernel", "concurrent_kernel", "hpu_op", "mtia_ccp_events"), Kind.COMPUTE),
    **dict.fromkeys(("gpu_memset", "memset"), Kind.COMPUTE),
    **dict.fromkeys(("gpu_memcpy", "memcpy"), Kind.COPY),
    "collective_comm": Kind.COMMUNICATION,
    **dict.fromkeys(
        ("runtime", "cuda_runtime", "cuda_driver", "xpu_runtime", "xpu_driver", "mtia_runtime", "glow_runtime"),
        Kind.RUNTIME,
    ),
    **dict.fromkeys(("privateuse1_runtime", "privateuse1_driver"), Kind.RUNTIME),
    **dict.fromkeys(("cpu_op", "operator"), Kind.OPERATOR),
    "user_annotation": Kind.ANNOTATION,
    **dict.fromkeys(("python_function", "python"), Kind.PYTHON),
}
COLLECTIVE = re.compile(
    r"nccl|rccl|hccl|\boneccl|ccl_kernel|c10d::|shm_broadcast|cross_device_reduce|all_?reduce", re.I
)
COPY_KERNEL = re.compile(r"^__amd_rocclr_copy|^mem(cpy|ory copy)|^copybuffer", re.I)
LOADER = re.compile(r"^enumerate\((?:DataLoader|DataPipe)\)#|torch/utils/data/dataloader\.py\(\d+\): __next__$")
STEP = re.compile(r"^ProfilerStep#\d+$")
BLOCKING = re.compile(r"Synchronize|^urEventWait$|^urQueueFinish$|^urEnqueueEventsWait$|^zeEventHostSynchronize", re.I)
COPYING = re.compile(r"^(?:cuda|hip|cu|ur(?:Enqueue)?|ze\w*)(?:USM)?Mem(?:cpy|oryCopy|Copy)", re.I)
ALLOCATING = re.compile(
    r"^(?:cuda|hip|cu)(?:ExtMalloc|Malloc|Free|HostAlloc|HostMalloc|HostFree|HostRegister|HostUnregister)"
    r"|^(?:cu|hip)Mem(?:Alloc|Free|Create|Map|Unmap|Release|AddressReserve|SetAccess)"
    r"|^urUSM(?:Device|Host|Shared)Alloc|^urUSMFree",
    re.I,
)


def kind_of(category: str, name: str, pid: int | str) -> Kind:
    """What an event is, by its category and name."""
    kind = CATEGORIES.get(category.lower())
    if kind is None:
        if category:
            return Kind.IGNORED
        # The older export of the autograd profiler has no categories.
        kind = {"CPU functions": Kind.OPERATOR, "CUDA functions": Kind.COMPUTE}.get(str(pid), Kind.IGNORED)
    if kind == Kind.COMPUTE:
        if COLLECTIVE.search(name):
            return Kind.COMMUNICATION
        return Kind.COPY if COPY_KERNEL.search(name) else kind
    if kind == Kind.RUNTIME:
        if BLOCKING.search(name):
            return Kind.BLOCKING
        if ALLOCATING.search(name):
            return Kind.ALLOCATING
        return Kind.COPYING if COPYING.search(name) else kind
    if kind in (Kind.ANNOTATION, Kind.OPERATOR, Kind.PYTHON):
        if LOADER.search(name):
            return Kind.LOADER
        if kind != Kind.PYTHON and STEP.match(name):
            return Kind.STEP
    return kind


@dataclass(frozen=True, eq=False)
class Trace:
    """The timed events, sorted by begin. Times are nanoseconds since an origin of the trace's own."""

    begin_ns: Ints
    end_ns: Ints
    kind: npt.NDArray[np.int8]
    name: npt.NDArray[np.int32]
    thread: npt.NDArray[np.int32]
    correlation: Ints
    device: npt.NDArray[np.int32]
    stream: npt.NDArray[np.int32]
    copied_bytes: Ints
    names: list[str]
    threads: list[tuple[int | str, int | str]]
    origin_us: float
    rank: int | None = None
    world_size: int | None = None
    device_names: dict[int, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    cut_short: bool = False  # the file ends before the trace does
    streams: list[int | str] = field(default_factory=list)  # what the file calls them

    def __len__(self) -> int:
        return len(self.begin_ns)

    def of(self, *kinds: Kind) -> Flags:
        """Which events are of one of these kinds."""
        return np.isin(self.kind, kinds)


class _Codes(dict[tuple[str, str, int | str], int]):
    """Numbers for each (category, name), with the kind and the name's number of each."""

    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self.name_numbers: list[int] = []
        self.names: dict[str, int] = {}

    def __missing__(self, key: tuple[str, str, int | str]) -> int:
        category, name, pid = key
        kind = kind_of(category, name, pid)
        self.kinds.append(kind)
        kept = "" if kind == Kind.IGNORED else name
        self.name_numbers.append(self.names.setdefault(kept, len(self.names)))
        number = self[key] = len(self.kinds) - 1
        return number


class _Numbers(dict[tuple[int | str, int | str], int]):
    def __missing__(self, key: tuple[int | str, int | str]) -> int:
        number = self[key] = len(self)
        return number


@dataclass
class Columns:
    """Gathers events, a batch at a time."""

    codes: _Codes = field(default_factory=_Codes)
    threads: _Numbers = field(default_factory=_Numbers)
    streams: dict[int | str, int] = field(default_factory=dict)
    batches: list[tuple[npt.NDArray[np.generic], ...]] = field(default_factory=list)
    read_events: int = 0
    unusable: Counter[str] = field(default_factory=Counter)

    def add(self, events: list[Event]) -> None:
        self.read_events += len(events)
        try:
            self._add(events)
        except OverflowError:  # a number that no tracer writes
            self._add([event for each in events if (event := lenient(msgspec.to_builtins(each))) is not None])

    def _add(self, events: list[Event]) -> None:
        codes, threads, streams = self.codes, self.threads, self.streams
        timed = [event for event in events if event.ph == "X"]
        code = [codes[event.cat, event.name, event.pid if not event.cat else 0] for event in timed]
        kinds = codes.kinds
        if any(kinds[each] == Kind.IGNORED for each in code):
            timed = [event for event, each in zip(timed, code, strict=True) if kinds[each] != Kind.IGNORED]
            code = [each for each in code if kinds[each] != Kind.IGNORED]
        if not timed:
            return
        arguments = [event.args for event in timed]
        self.batches.append(
            (
                np.array([event.ts for event in timed], np.float64),
                np.array([event.dur for event in timed], np.float64),
                np.array(code, np.int32),
                np.array([threads[event.pid, event.tid] for event in timed], np.int32),
                np.array([each.correlation for each in arguments], np.int64),
                np.array(
                    [
                        each.device if each.device >= 0 else event.pid if isinstance(event.pid, int) else 0
                        for each, event in zip(arguments, timed, strict=True)
                    ],
                    np.int64,
                )
                .clip(-1, 2**31 - 1)
                .astype(np.int32),
                np.array([streams.setdefault(each.stream, len(streams)) for each in arguments], np.int32),
                np.array([whole(each.bytes, 0) if each.bytes else 0 for each in arguments], np.int64),
            )
        )

    def finish(self) -> Trace:
        """All events, sorted by begin, without those whose times can't be true."""
        columns = list(zip(*self.batches, strict=True))
        self.batches.clear()
        if not columns:
            columns = [(np.empty(0, kind),) for kind in ("f8", "f8", "i4", "i4", "i8", "i4", "i4", "i8")]
        joined = []
        while columns:
            joined.append(np.concatenate(columns.pop(0)))
        begin_us, duration_us, code, thread, correlation, device, stream, copied = joined
        kinds = np.array(self.codes.kinds or [Kind.IGNORED], np.int8)[code]
        usable = self._usable(begin_us, duration_us, kinds)
        # Times are taken relative to a whole microsecond of the trace, before anything is rounded to nanoseconds.
        origin_us = float(np.floor(begin_us[usable].min())) if usable.any() else 0.0
        begin_us -= origin_us
        begin = np.rint(np.where(usable, begin_us, 0.0) * 1000).astype(np.int64)
        end = np.rint(np.where(usable, begin_us + duration_us, 0.0) * 1000).astype(np.int64)
        del begin_us, duration_us
        np.maximum(end, begin, out=end)
        order = np.flatnonzero(usable)
        order = order[np.lexsort((code[order], thread[order], -end[order], begin[order]))]
        name_numbers = np.array(self.codes.name_numbers or [0], np.int32)
        return Trace(
            begin_ns=begin[order],
            end_ns=end[order],
            kind=kinds[order],
            name=name_numbers[code[order]],
            thread=thread[order],
            correlation=correlation[order],
            device=device[order],
            stream=stream[order],
            copied_bytes=copied[order],
            names=list(self.codes.names),
            threads=list(self.threads),
            streams=list(self.streams),
            origin_us=origin_us,
        )

    def _usable(self, begin_us: npt.NDArray[np.float64], duration_us: npt.NDArray[np.float64], kinds: Ints) -> Flags:
        """Which events have times that can be true. The others are counted."""
        with np.errstate(invalid="ignore"):
            timed = np.isfinite(begin_us) & (np.abs(begin_us) < 1e16)
            lasting = duration_us >= 0
            short = lasting & (duration_us < WEEK_US)
        near = np.zeros(len(begin_us), bool)
        if timed.any():
            near[timed] = np.abs(begin_us[timed] - np.median(begin_us[timed])) < WEEK_US
        self.unusable[N_("no time")] += int((~timed).sum())
        self.unusable[N_("a time a week or more from all others")] += int((timed & ~near).sum())
        self.unusable[N_("no duration, or a negative one")] += int((near & ~lasting).sum())
        self.unusable[N_("a duration of a week or more")] += int((near & lasting & ~short).sum())
        usable: Flags = near & short
        return usable

    def warnings(self) -> list[str]:
        return [
            ngettext(
                "{n} event had {what} and is left out.", "{n} events had {what} and are left out.", count, what=_(what)
            )
            for what, count in self.unusable.items()
            if count
        ]
