"""How large work must be to keep the GPU busy for long enough to be measured, on any GPU."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch

SMALLEST_EDGE, LARGEST_EDGE = 256, 8192
PRODUCT_AT_LEAST_S = 0.001


def gpu_seconds(work: Callable[[], object], runs: int = 1) -> float:
    """How long the GPU needs for one call of `work`: the shortest of some runs, timed by events on the stream.

    Each run is queued behind a call that isn't timed, so the GPU doesn't wait for launches within the timed one.
    """
    shortest_ms = float("inf")
    for _ in range(runs):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        work()
        begin.record()
        work()
        end.record()
        end.synchronize()
        shortest_ms = min(shortest_ms, begin.elapsed_time(end))
    return shortest_ms / 1000


@functools.cache
def matmul_edge() -> int:
    """The edge of square matrices whose product keeps this GPU busy for at least 1 ms: far above a launch's cost."""
    edge = SMALLEST_EDGE
    while edge < LARGEST_EDGE:
        matrix = torch.ones(edge, edge, device="cuda")
        if gpu_seconds(lambda factor=matrix: factor @ factor, runs=2) >= PRODUCT_AT_LEAST_S:  # type: ignore[misc]
            break
        edge *= 2
    return edge


def square(edge: int, generator: torch.Generator) -> torch.Tensor:
    """A random matrix on the GPU that keeps the size of what it multiplies."""
    return torch.randn(edge, edge, generator=generator).div(edge**0.5).to("cuda")
