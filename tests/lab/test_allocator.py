"""The caching allocator, by itself: invariants over random sequences, and PyTorch's size rules."""

from __future__ import annotations

import itertools
import random

import pytest
import torch

from lab.gpu.allocator import CachingAllocator

MIB = 2**20


@pytest.fixture
def allocator() -> CachingAllocator:
    return CachingAllocator(256 * MIB, "a test card")


def current(allocator: CachingAllocator, name: str) -> int:
    return allocator.statistics[name]["all"].current


@pytest.mark.parametrize(
    ("asked", "allocated", "reserved"),
    [
        (1, 512, 2 * MIB),
        (513, 1024, 2 * MIB),
        (MIB, MIB, 2 * MIB),
        (MIB + 1, MIB + 512, 20 * MIB),
        (9 * MIB, 9 * MIB, 20 * MIB),
        (10 * MIB, 10 * MIB, 10 * MIB),
        (21 * MIB // 2, 21 * MIB // 2, 12 * MIB),
        (11 * MIB, 12 * MIB, 12 * MIB),  # too little remains to split off
    ],
)
def test_sizes_follow_pytorchs_rules(allocator, asked, allocated, reserved):
    allocator.allocate(asked)
    assert (allocator.allocated_bytes, allocator.reserved_bytes) == (allocated, reserved)


@pytest.mark.parametrize("seed", range(10))
def test_random_use_keeps_every_block_in_its_place(allocator, seed):
    draw = random.Random(seed)
    kept = []
    for _ in range(500):
        if kept and draw.random() < 0.5:
            allocator.free(kept.pop(draw.randrange(len(kept))))
        else:
            kept.append(allocator.allocate(draw.choice((1, 700, 5000, MIB, 3 * MIB)) + draw.randrange(1000)))
        assert allocator.allocated_bytes == sum(block.size for block in kept)
        assert current(allocator, "allocation") == len(kept)
        blocks = sorted(allocator.blocks.values(), key=lambda block: block.address)
        for one, other in itertools.pairwise(blocks):
            assert one.address + one.size <= other.address
        assert sum(block.size for block in blocks) == allocator.reserved_bytes
        assert not [block for block in blocks if block.free and block.after is not None and block.after.free]
    while kept:
        allocator.free(kept.pop())
    assert allocator.allocated_bytes == current(allocator, "inactive_split") == 0
    allocator.release_cached()
    assert allocator.reserved_bytes == 0
    assert not allocator.blocks


def test_a_request_beyond_the_card_frees_the_cache_before_it_fails(allocator):
    allocator.free(allocator.allocate(200 * MIB))
    assert allocator.reserved_bytes == 200 * MIB
    allocator.allocate(220 * MIB)
    assert allocator.reserved_bytes == 220 * MIB
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate 100\.00 MiB.*256\.00 MiB.*a test card"):
        allocator.allocate(100 * MIB)
    assert allocator.allocated_bytes == 220 * MIB


def test_the_peak_remembers_and_resets(allocator):
    block = allocator.allocate(30 * MIB)
    allocator.free(block)
    peak = allocator.statistics["allocated_bytes"]["all"]
    assert (peak.current, peak.peak) == (0, 30 * MIB)
    allocator.reset_peaks()
    assert peak.peak == 0
