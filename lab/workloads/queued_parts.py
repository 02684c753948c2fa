"""Three pieces of work to be timed one by one, without a moment in which the GPU has nothing to do."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

from lab import observe
from lab.workloads.queued_matmuls import chain
from lab.workloads.sizing import PRODUCT_AT_LEAST_S, gpu_seconds

EARLIER_AT_LEAST_S = 0.2  # longer than anything that may happen while the parts are queued
HEIGHT = 8
SHORTEST = (18, 28)  # products
RATIOS = (1.0, 2.3, 5.0)  # no part takes as long as another one, or as some of them together


def build(seed: int) -> list[Callable[[], torch.Tensor]]:
    """Three functions that put work on the GPU, which is still busy with earlier work."""
    parts = [part(seed, number, length) for number, length in enumerate(lengths(seed))]
    earlier = chain(seed, max(1, round(EARLIER_AT_LEAST_S / PRODUCT_AT_LEAST_S)), HEIGHT)
    earlier()
    return parts


def expect(seed: int) -> list[float]:
    """How many seconds the GPU needs for each part."""
    return [gpu_seconds(chain(seed, length, HEIGHT)) for length in lengths(seed)]


def lengths(seed: int) -> list[int]:
    """How many products each part is."""
    draw = random.Random(seed)
    shortest = draw.randrange(*SHORTEST)
    return [round(shortest * ratio) for ratio in draw.sample(RATIOS, len(RATIOS))]


def part(seed: int, number: int, length: int) -> Callable[[], torch.Tensor]:
    multiply = chain(seed, length, HEIGHT)

    def work() -> torch.Tensor:
        """Queue some products. Returns before the GPU has done them."""
        observe.record("workload", phase="begin", part=number)
        product = multiply()
        observe.record("workload", phase="end", part=number)
        return product

    return work
