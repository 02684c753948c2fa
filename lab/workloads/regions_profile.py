"""A finished profile of three named regions: one is large on the GPU, one on the CPU, and one only waits."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

from lab.workloads.sizing import gpu_seconds, matmul_edge, square

NAMES = ("encoder", "decoder", "head")
SMALL_OPERATORS = ("add", "mul", "sub")
SMALL_CALLS = (500, 700)  # nearly nothing for the GPU, a launch each for the host
HEAVY_S = (0.040, 0.060)  # of a layer whose call is three operators deep: their totals count each kernel three times
READING_S = 0.010  # of products, right before the host reads a value and waits for everything

Region = Callable[[], object]


def regions(seed: int) -> list[Region]:
    """Many small operators, then a few large ones, then some whose result the host reads."""
    draw = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    edge = matmul_edge()
    matrix, factor = square(edge, generator), square(edge, generator)
    layer = nn.Linear(edge, edge, bias=False).to("cuda")
    sentences = torch.randn(4, edge // 2, edge, generator=generator).to("cuda")
    ones = torch.ones(16, device="cuda")
    small, calls = getattr(torch, draw.choice(SMALL_OPERATORS)), draw.randrange(*SMALL_CALLS)
    heavy = max(2, round(draw.uniform(*HEAVY_S) / gpu_seconds(lambda: layer(sentences), runs=3)))
    products = max(1, round(READING_S / gpu_seconds(lambda: matrix @ factor, runs=3)))
    return [
        lambda: [small(ones, 1) for _ in range(calls)],
        lambda: [layer(sentences) for _ in range(heavy)],
        lambda: [matrix @ factor for _ in range(products)][-1].sum().item(),
    ]


built: list[profile] = []  # in this process, for finish()


def build(seed: int) -> profile:
    """Profile the three regions once and return the finished profiler. The seed decides which name each one has."""
    names = random.Random(seed + 1).sample(NAMES, len(NAMES))
    parts = regions(seed)
    prof = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with torch.no_grad():
        for part in parts:
            part()
        torch.cuda.synchronize()
        with prof:
            for name, part in zip(names, parts, strict=True):
                with record_function(name):
                    part()
    built.append(prof)
    return prof


def finish(returned: object, seed: int) -> profile:
    """The profile that was read."""
    return built.pop()


def expect(seed: int) -> profile:
    """Another profile of the same regions."""
    return build(seed)
