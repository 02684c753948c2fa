"""A finished profile of three named regions: one is large on the GPU, one on the CPU, and one only waits."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

from lab.plain import plain
from lab.workloads.sizing import gpu_seconds, matmul_edge, square

NAMES = ("encoder", "decoder", "head")
SMALL_OPERATORS = ("add", "mul", "sub")
SMALL_CALLS = (500, 700)  # nearly nothing for the GPU, a launch each for the host
HEAVY_S = (0.12, 0.16)  # of a layer whose call is three operators deep: their totals count each kernel three times
HELD_UP_S, TRIES = 0.06, 5  # on a busy machine a process may be held up between its many launches
READING_S = 0.010  # of products, right before the host reads a value and waits for everything

Region = Callable[[], object]
Rows = list[dict[str, Any]]


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


built: list[Rows] = []  # in this process, for finish(): the rows before learner code had the profile


def build(seed: int) -> profile:
    """Profile the three regions once and return the finished profiler. The seed decides which name each one has."""
    names = random.Random(seed + 1).sample(NAMES, len(NAMES))
    parts = regions(seed)
    with torch.no_grad():
        for part in parts:
            part()
        for _ in range(TRIES):
            torch.cuda.synchronize()
            prof = recorded(dict(zip(names, parts, strict=True)))
            rows = rows_of(prof)
            small_s = max(row["cpu_us"] for row in rows if row["key"] == names[0]) / 1e6
            if small_s < HELD_UP_S:
                break
    built.append(rows)
    return prof


def recorded(parts: dict[str, Region]) -> profile:
    prof = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with prof:
        for name, part in parts.items():
            with record_function(name):
                part()
    return prof


def rows_of(prof: profile) -> Rows:
    rows: Rows = plain(prof)["$profile"]["rows"]
    return rows


def finish(returned: object, seed: int) -> Rows:
    """The rows of the profile that was read."""
    return built.pop()


def expect(seed: int) -> Rows:
    """The rows of another profile of the same regions."""
    return rows_of(build(seed))
