"""The data sheet of the simulated GPU."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """What a GPU can do, as a data sheet states it.

    Durations follow the roofline model (Williams, Waterman and Patterson, 2009): a kernel lasts as long as
    its arithmetic or its memory traffic needs, whichever is longer, plus a floor that every kernel pays.
    """

    name: str
    memory_bytes: int
    fp32_flop_per_s: float
    tf32_flop_per_s: float  # fp32 matrices that may be multiplied on tensor cores
    half_flop_per_s: float  # fp16 and bf16 on tensor cores
    memory_bytes_per_s: float
    pageable_bytes_per_s: float  # host to device and back, from ordinary memory
    pinned_bytes_per_s: float
    kernel_floor_s: float
    copy_floor_s: float
    launch_s: float  # what one launch costs the host
    launch_queue: int  # launches that may wait before the host has to
    segment_s: float  # what taking a segment of memory from the GPU costs the host, or giving it back
    capability: tuple[int, int]
    multiprocessors: int


SIMULATED = Card(
    name="Profile First Simulated GPU",
    memory_bytes=512 * 2**20,
    # About a thousandth of a data centre GPU in every rate. So a step of a small model lasts tens of milliseconds,
    # and the host needs far less time to compute a kernel's values than the simulated kernel takes.
    fp32_flop_per_s=25e9,
    tf32_flop_per_s=50e9,
    half_flop_per_s=100e9,
    memory_bytes_per_s=4e9,
    pageable_bytes_per_s=0.4e9,
    pinned_bytes_per_s=1.0e9,
    kernel_floor_s=5e-6,
    copy_floor_s=10e-6,
    launch_s=8e-6,
    launch_queue=1024,
    segment_s=2e-4,
    capability=(8, 0),
    multiprocessors=16,
)
