"""A chain of matrix products to time, handed over while the GPU is still busy with earlier work."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

from lab import observe
from lab.workloads.sizing import PRODUCT_AT_LEAST_S, gpu_seconds, matmul_edge, square

EARLIER = 3  # the earlier work takes at least so many times as long as one call
EARLIER_AT_LEAST_S = 0.3  # longer than anything that may happen before the work is called
HEIGHTS = (4, 24)  # of the matrix that is multiplied, in eighths of its width
LENGTHS = (30, 70)


def build(seed: int, length: int | None = None, height: int | None = None) -> Callable[[], torch.Tensor]:
    """A chain of `length` products, with earlier work queued before it. What isn't given is drawn from the seed."""
    length, height = sizes(seed, length, height)
    multiply = chain(seed, length, height)
    product_s = PRODUCT_AT_LEAST_S * height / 8
    for _ in range(max(EARLIER, round(EARLIER_AT_LEAST_S / (length * product_s)))):
        multiply()

    def work() -> torch.Tensor:
        """Multiply a matrix by another one again and again. Returns before the GPU has done it."""
        observe.record("workload", phase="begin")
        product = multiply()
        observe.record("workload", phase="end")
        return product

    return work


def expect(seed: int, length: int | None = None, height: int | None = None) -> dict[str, float]:
    """How long the GPU needs for one call."""
    return {"gpu_s": gpu_seconds(chain(seed, *sizes(seed, length, height)))}


def sizes(seed: int, length: int | None, height: int | None) -> tuple[int, int]:
    """Two chains of the same seed differ only in what is asked for."""
    draw = random.Random(seed)
    drawn_length, drawn_height = draw.randrange(*LENGTHS), draw.randrange(*HEIGHTS)
    return length or drawn_length, height or drawn_height


def chain(seed: int, length: int, height: int) -> Callable[[], torch.Tensor]:
    """A function that multiplies. It holds the matrices and nothing that tells how long they take."""
    edge = matmul_edge()
    generator = torch.Generator().manual_seed(seed)
    matrix = torch.randn(edge * height // 8, edge, generator=generator).to("cuda")
    factors = [square(edge, generator)] * length

    def multiply() -> torch.Tensor:
        product = matrix
        for factor in factors:
            product = product @ factor
        return product

    return multiply
