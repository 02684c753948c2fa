"""The simulated GPU's memory: a caching allocator as PyTorch's."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

# Constants of PyTorch's CUDACachingAllocator (c10/cuda/CUDACachingAllocator.cpp).
ROUND_BYTES = 512
SMALL_REQUEST_BYTES = 2**20
SMALL_SEGMENT_BYTES = 2 * 2**20
LARGE_SEGMENT_BYTES = 20 * 2**20
LARGE_REQUEST_BYTES = 10 * 2**20
LARGE_ROUND_BYTES = 2 * 2**20
POOLS = ("small_pool", "large_pool")


@dataclass(eq=False)
class Block:
    """A stretch of a segment, free or in use."""

    address: int
    size: int
    pool: str
    segment: int  # address of the segment
    free: bool = True
    requested: int = 0
    before: Block | None = None
    after: Block | None = None


@dataclass
class Statistic:
    """PyTorch's Stat: current, peak, allocated and freed."""

    current: int = 0
    peak: int = 0
    allocated: int = 0
    freed: int = 0

    def increase(self, amount: int) -> None:
        self.current += amount
        self.peak = max(self.peak, self.current)
        self.allocated += amount

    def decrease(self, amount: int) -> None:
        self.current -= amount
        self.freed += amount


COUNTED = ("allocation", "segment", "active", "inactive_split")
MEASURED = ("allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes", "requested_bytes")


def new_statistics() -> dict[str, dict[str, Statistic]]:
    return {name: {pool: Statistic() for pool in ("all", *POOLS)} for name in COUNTED + MEASURED}


@dataclass
class CachingAllocator:
    """Hands out rounded blocks from segments that it keeps when they become free.

    So allocated (in tensors) and reserved (taken from the GPU) differ, as with PyTorch's allocator, whose
    sizes and splitting rules it follows.
    """

    capacity_bytes: int
    name: str
    allowed_bytes: int | None = None  # torch.cuda.set_per_process_memory_fraction
    free_blocks: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: {pool: [] for pool in POOLS})
    blocks: dict[int, Block] = field(default_factory=dict)
    statistics: dict[str, dict[str, Statistic]] = field(default_factory=new_statistics)
    next_segment: int = 0x7F0000000000
    ooms: int = 0
    retries: int = 0
    on_action: list[Callable[[str, int, int], None]] = field(default_factory=list)  # what happened, address, size

    def allocate(self, size: int) -> Block:
        """A block of at least `size` bytes. Raises torch.OutOfMemoryError in PyTorch's words."""
        rounded = max(ROUND_BYTES, -(-size // ROUND_BYTES) * ROUND_BYTES)
        pool = "small_pool" if rounded <= SMALL_REQUEST_BYTES else "large_pool"
        block = self.take_free(pool, rounded) or self.new_segment(pool, rounded)
        if block is None:
            self.retries += 1
            self.release_cached()
            block = self.new_segment(pool, rounded)
        if block is None:
            self.ooms += 1
            self.tell("oom", 0, size)
            raise torch.OutOfMemoryError(self.out_of_memory(size))
        self.split(block, rounded)
        block.free = False
        block.requested = size
        self.count("allocation", pool, 1)
        self.count("active", pool, 1)
        for name in ("allocated_bytes", "active_bytes"):
            self.count(name, pool, block.size)
        self.count("requested_bytes", pool, size)
        self.tell("alloc", block.address, block.size)
        return block

    def free(self, block: Block) -> None:
        self.tell("free_requested", block.address, block.size)
        self.tell("free_completed", block.address, block.size)
        block.free = True
        for name, amount in (
            ("allocation", 1),
            ("active", 1),
            ("allocated_bytes", block.size),
            ("active_bytes", block.size),
            ("requested_bytes", block.requested),
        ):
            self.count(name, block.pool, -amount)
        for neighbour in (block.before, block.after):
            if neighbour is not None and neighbour.free:
                self.forget_free(neighbour)
                block = self.merge(neighbour, block)
        self.keep_free(block)

    def release_cached(self) -> None:
        """Give segments that are wholly free back to the GPU: torch.cuda.empty_cache."""
        for pool in POOLS:
            for size, address in list(self.free_blocks[pool]):
                block = self.blocks[address]
                if block.before is None and block.after is None:
                    self.forget_free(block)
                    del self.blocks[address]
                    self.tell("segment_free", address, size)
                    self.count("segment", pool, -1)
                    self.count("reserved_bytes", pool, -size)

    def reset_peaks(self) -> None:
        for pools in self.statistics.values():
            for statistic in pools.values():
                statistic.peak = statistic.current

    def reset_accumulated(self) -> None:
        for pools in self.statistics.values():
            for statistic in pools.values():
                statistic.allocated = statistic.freed = 0
        self.ooms = self.retries = 0

    @property
    def limit_bytes(self) -> int:
        return self.capacity_bytes if self.allowed_bytes is None else self.allowed_bytes

    @property
    def reserved_bytes(self) -> int:
        return self.statistics["reserved_bytes"]["all"].current

    @property
    def allocated_bytes(self) -> int:
        return self.statistics["allocated_bytes"]["all"].current

    def nested_statistics(self) -> dict[str, object]:
        """The dictionary that torch.cuda.memory_stats_as_nested_dict returns."""
        nested: dict[str, object] = {
            name: {
                pool: {
                    "current": statistic.current,
                    "peak": statistic.peak,
                    "allocated": statistic.allocated,
                    "freed": statistic.freed,
                }
                for pool, statistic in pools.items()
            }
            for name, pools in self.statistics.items()
        }
        zero = {"current": 0, "peak": 0, "allocated": 0, "freed": 0}
        return nested | {
            "oversize_allocations": zero,
            "oversize_segments": zero,
            "num_alloc_retries": self.retries,
            "num_ooms": self.ooms,
            "num_sync_all_streams": 0,
            "num_device_alloc": self.statistics["segment"]["all"].allocated,
            "num_device_free": self.statistics["segment"]["all"].freed,
            "max_split_size": -1,
        }

    def count(self, name: str, pool: str, amount: int) -> None:
        for statistic in (self.statistics[name]["all"], self.statistics[name][pool]):
            if amount >= 0:
                statistic.increase(amount)
            else:
                statistic.decrease(-amount)

    def tell(self, action: str, address: int, size: int) -> None:
        for listener in self.on_action:
            listener(action, address, size)

    def take_free(self, pool: str, size: int) -> Block | None:
        sizes = self.free_blocks[pool]
        at = bisect.bisect_left(sizes, (size, 0))
        if at == len(sizes):
            return None
        block = self.blocks[sizes[at][1]]
        self.forget_free(block)
        return block

    def new_segment(self, pool: str, size: int) -> Block | None:
        if pool == "small_pool":
            segment_size = SMALL_SEGMENT_BYTES
        elif size < LARGE_REQUEST_BYTES:
            segment_size = LARGE_SEGMENT_BYTES
        else:
            segment_size = -(-size // LARGE_ROUND_BYTES) * LARGE_ROUND_BYTES
        if self.reserved_bytes + segment_size > self.limit_bytes:
            return None
        block = Block(self.next_segment, segment_size, pool, self.next_segment)
        self.blocks[block.address] = block
        self.next_segment += segment_size
        self.tell("segment_alloc", block.address, segment_size)
        self.count("segment", pool, 1)
        self.count("reserved_bytes", pool, segment_size)
        return block

    def split(self, block: Block, size: int) -> None:
        remaining = block.size - size
        least = ROUND_BYTES if block.pool == "small_pool" else SMALL_REQUEST_BYTES + 1
        if remaining < least:
            return
        rest = Block(block.address + size, remaining, block.pool, block.segment, before=block, after=block.after)
        if block.after is not None:
            block.after.before = rest
        block.after, block.size = rest, size
        self.blocks[rest.address] = rest
        self.keep_free(rest)

    def merge(self, one: Block, other: Block) -> Block:
        first, second = (one, other) if one.address < other.address else (other, one)
        first.size += second.size
        first.after = second.after
        if second.after is not None:
            second.after.before = first
        del self.blocks[second.address]
        return first

    def keep_free(self, block: Block) -> None:
        bisect.insort(self.free_blocks[block.pool], (block.size, block.address))
        if block.before is not None or block.after is not None:
            self.count("inactive_split", block.pool, 1)
            self.count("inactive_split_bytes", block.pool, block.size)

    def forget_free(self, block: Block) -> None:
        self.free_blocks[block.pool].remove((block.size, block.address))
        if block.before is not None or block.after is not None:
            self.count("inactive_split", block.pool, -1)
            self.count("inactive_split_bytes", block.pool, -block.size)

    def out_of_memory(self, size: int) -> str:
        def human(amount: int) -> str:
            return f"{amount / 2**30:.2f} GiB" if amount >= 2**30 else f"{amount / 2**20:.2f} MiB"

        unused = self.reserved_bytes - self.allocated_bytes
        free = self.capacity_bytes - self.reserved_bytes
        allowed = "" if self.allowed_bytes is None else f"{human(self.allowed_bytes)} allowed; "
        return (
            f"CUDA out of memory. Tried to allocate {human(size)}. GPU 0 has a total capacity of "
            f"{human(self.capacity_bytes)} of which {human(free)} is free. {allowed}"
            f"Of the allocated memory {human(self.allocated_bytes)} is allocated by PyTorch, and {human(unused)} is "
            "reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation. "
            f"({self.name})"
        )
