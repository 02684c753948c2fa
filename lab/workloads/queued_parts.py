"""Three pieces of work to be timed one by one, without a moment in which the GPU has nothing to do."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

from lab import observe
from lab.workloads.queued_matmuls import chain
from lab.workloads.sizing import PRODUCT_AT_LEAST_S, gpu_seconds

EARLIER_AT_LEAST_S = 0.2  # longer than anything that may happen while the parts are queued
# Of the matrices, in eighths of their width: the number of products doesn't tell how long they take.
HEIGHTS = ((4, 6), (9, 12), (18, 24))
SHORTEST = (150, 220)  # the shortest part: so many products of height 1
RATIOS = (1.0, 2.3, 5.0)  # no part takes as long as another one, or as some of them together


def build(seed: int) -> list[Callable[[], torch.Tensor]]:
    """Three functions that put work on the GPU, which is still busy with earlier work."""
    parts = [part(seed, number, *size) for number, size in enumerate(sizes(seed))]
    earlier = chain(seed, round(EARLIER_AT_LEAST_S / PRODUCT_AT_LEAST_S), height=8)
    earlier()
    return parts


def expect(seed: int) -> list[float]:
    """How many seconds the GPU needs for each part."""
    return [gpu_seconds(chain(seed, *size)) for size in sizes(seed)]


def sizes(seed: int) -> list[tuple[int, int]]:
    """For each part how many products it is, and the height of each."""
    draw = random.Random(seed)
    shortest = draw.randrange(*SHORTEST)
    heights = [draw.randrange(*between) for between in draw.sample(HEIGHTS, len(HEIGHTS))]
    ratios = draw.sample(RATIOS, len(RATIOS))
    return [(round(shortest * ratio / height), height) for ratio, height in zip(ratios, heights, strict=True)]


def part(seed: int, number: int, length: int, height: int) -> Callable[[], torch.Tensor]:
    multiply = chain(seed, length, height)

    def work() -> torch.Tensor:
        """Queue some products. Returns before the GPU has done them."""
        observe.record("workload", phase="begin", part=number)
        product = multiply()
        observe.record("workload", phase="end", part=number)
        return product

    return work
