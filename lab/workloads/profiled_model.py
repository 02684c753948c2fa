"""A finished profile of one forward pass, in which every way to sort the operators puts another one on top."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

from lab.workloads.sizing import gpu_seconds, matmul_edge, square

HOTTEST_S = 0.040  # GPU time of the operator that the seed makes the hottest by its own kernels
ATTENTION_S = 0.048  # of all attention scores: the largest total, aten::matmul's, but half of it is copies
OTHER_S = 0.012  # of each other operator
ONCE_S = 0.008  # of the one operator that is called once, so that its average is the largest
TRIALS = 3  # the shortest counts, so that the same seed makes the same profile in every process
SMALL_ADDS = 300  # nearly nothing for the GPU, a launch each for the host

Block = Callable[[], torch.Tensor]


class Model(nn.Module):
    """A forward pass as a list of blocks, each run a number of times. It ends by reading a value, which waits."""

    def __init__(self, blocks: list[tuple[Block, int]]) -> None:
        super().__init__()
        self.blocks = blocks

    def forward(self) -> float:
        last = torch.empty(0)
        for block, times in self.blocks:
            for _ in range(times):
                last = block()
        return last.sum().item()


def candidates(seed: int) -> dict[str, Block]:
    """Blocks that each spend their GPU time in one operator of their own, by the name of that operator."""
    generator = torch.Generator().manual_seed(seed)
    edge = matmul_edge()
    matrix, factor = square(edge, generator), square(edge, generator)
    pictures = torch.randn(4, 16, edge // 8, edge // 8, generator=generator).to("cuda")
    convolution = nn.Conv2d(16, 16, 3, padding=1, bias=False).to("cuda")
    table = nn.Embedding(1000, edge).to("cuda")
    words = torch.randint(0, 1000, (2 * edge,), generator=generator).to("cuda")
    activations = torch.randn(2 * edge, edge, generator=generator).to("cuda")
    return {
        "mm": lambda: matrix @ factor,
        "convolution": lambda: convolution(pictures),
        "embedding": lambda: table(words),
        "softmax": lambda: activations.softmax(dim=1),
        "gelu": lambda: nn.functional.gelu(activations),
    }


def attention_scores(seed: int) -> Block:
    """Products of queries and keys as attention needs them: copied into another order first, then multiplied."""
    edge = matmul_edge()
    shape = (edge // 16, 64, 4, 64)  # batch, time, heads, width
    generator = torch.Generator().manual_seed(seed)
    queries, keys = (torch.randn(shape, generator=generator).to("cuda").transpose(1, 2) for _ in range(2))
    return lambda: queries @ keys.transpose(-2, -1)


def build(seed: int) -> profile:
    """Profile one warm forward pass and return the finished profiler."""
    draw = random.Random(seed)
    blocks = candidates(seed)
    hottest = draw.choice(sorted(blocks))
    budgets = [(block, HOTTEST_S if name == hottest else OTHER_S) for name, block in blocks.items()]
    budgets.append((attention_scores(seed), ATTENTION_S))
    schedule = [(block, max(1, round(budget_s / gpu_seconds(block, TRIALS)))) for block, budget_s in budgets]

    rows = torch.ones(1024, 64, device="cuda")
    once = torch.ones(max(1, round(ONCE_S / gpu_seconds(rows.tanh, TRIALS))) * 1024, 64, device="cuda")
    ones = torch.ones(16, device="cuda")
    schedule += [(once.tanh, 1), (lambda: ones + 1, SMALL_ADDS)]
    draw.shuffle(schedule)

    model = Model(schedule)
    torch.cuda.synchronize()
    prof = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with torch.no_grad(), prof:
        model()
        torch.cuda.synchronize()
    return prof


def expect(seed: int) -> profile:
    """The same forward pass, profiled once more: a step's kernels don't vary, so its rows can be compared with."""
    return build(seed)
