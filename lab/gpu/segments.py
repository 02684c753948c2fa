"""What it costs to take memory from the GPU and to give it back: cudaMalloc and cudaFree.

Both are calls of the driver, far dearer than a block from the cache, and cudaFree waits for all of the GPU's work. That
is why PyTorch keeps what it has ("Memory management" in its notes on CUDA semantics).
"""

from __future__ import annotations

from lab import observe
from lab.gpu import recording
from lab.gpu.device import card, clock, memory, timeline

freed = 0  # segments that were given back and not paid for yet
taken_s = 0.0  # what taking segments has cost since it was last told to who observes


def install() -> None:
    memory.allocator.on_action.append(pay)


def pay(action: str, address: int, size: int) -> None:
    global freed, taken_s
    if action == "segment_alloc":
        clock.charge(card.segment_s)
        taken_s += card.segment_s
        recording.record_call("cudaMalloc", card.segment_s)
    elif action == "segment_free":
        freed += 1


def wait_for_frees() -> None:
    """The wait of cudaFree, for segments that were given back meanwhile.

    Not before the host has computed an op's values: until then the clock runs with it, and is turned back afterwards.
    """
    global freed, taken_s
    calls, freed = freed, 0
    lasted_s, taken_s = taken_s, 0.0
    for _ in range(calls):
        waited_s = timeline.left_s()
        clock.sleep_until(timeline.done_at_s())
        clock.charge(card.segment_s)
        recording.record_call("cudaFree", waited_s + card.segment_s)
        lasted_s += waited_s + card.segment_s
    if lasted_s:
        observe.record("host_phase", kind="alloc", lasted_s=lasted_s)


def empty_cache() -> None:
    """torch.cuda.empty_cache: give back the segments in which nothing is allocated."""
    with memory.lock, recording.marker(clock.now_s()) as marked:
        memory.release_cached()
        wait_for_frees()
        if marked is not None:
            marked.end_s = clock.now_s()
