"""What it costs to take memory from the GPU and to give it back: cudaMalloc and cudaFree.

Both are calls of the driver, far dearer than a block from the cache, and cudaFree waits for all of the GPU's work. That
is why PyTorch keeps what it has ("Memory management" in its notes on CUDA semantics).
"""

from __future__ import annotations

from lab.gpu import recording
from lab.gpu.device import card, clock, memory, timeline


def install() -> None:
    memory.allocator.on_action.append(pay)


def pay(action: str, address: int, size: int) -> None:
    if action == "segment_alloc":
        clock.charge(card.segment_s)
        recording.record_call("cudaMalloc", card.segment_s)
    elif action == "segment_free":
        waited_s = timeline.left_s()
        clock.sleep_until(timeline.done_at_s())
        clock.charge(card.segment_s)
        recording.record_call("cudaFree", waited_s + card.segment_s)


def empty_cache() -> None:
    """torch.cuda.empty_cache: give back the segments in which nothing is allocated."""
    with recording.marker(clock.now_s()) as marked:
        memory.allocator.release_cached()
        if marked is not None:
            marked.end_s = clock.now_s()
