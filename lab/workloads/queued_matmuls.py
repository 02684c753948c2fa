"""A chain of matrix products to time, handed over while the GPU is still busy with earlier work."""

from __future__ import annotations

import random

import torch

from lab import observe
from lab.workloads.sizing import gpu_seconds, matmul_edge, square

EARLIER = 4  # the earlier work takes at least so many times as long as one call
EARLIER_AT_LEAST_S = 0.3  # longer than anything that may happen before the work is called


class MatmulChain:
    """Multiplies a matrix by another one again and again. A call returns before the GPU has done it."""

    def __init__(self, length: int, matrix: torch.Tensor, factor: torch.Tensor) -> None:
        self.length = length
        self.matrix = matrix
        self.factor = factor
        self.gpu_s = 0.0

    def __call__(self) -> torch.Tensor:
        observe.record("workload", phase="begin", gpu_s=self.gpu_s)
        product = self.multiply()
        observe.record("workload", phase="end")
        return product

    def multiply(self) -> torch.Tensor:
        product = self.matrix
        for _ in range(self.length):
            product = product @ self.factor
        return product


def build(seed: int, length: int | None = None) -> MatmulChain:
    """A chain of `length` products (drawn from the seed without one), with earlier work queued before it."""
    edge = matmul_edge()
    generator = torch.Generator().manual_seed(seed)
    length = length or random.Random(seed).randrange(30, 70)
    chain = MatmulChain(length, square(edge, generator), square(edge, generator))
    chain.gpu_s = gpu_seconds(chain.multiply)

    earlier_s = 0.0
    while earlier_s < max(EARLIER * chain.gpu_s, EARLIER_AT_LEAST_S):
        chain.multiply()
        earlier_s += chain.gpu_s
    return chain
