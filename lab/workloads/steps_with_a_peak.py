"""A training step whose peak memory is to be found, after something larger was in memory."""

from __future__ import annotations

import random

import torch
from torch import nn

from lab import observe

MIB = 2**20
FEATURES, HIDDEN, CLASSES, ROWS_PER_MIB = 32, 1024, 10, 256  # a row of 1024 hidden values is 4 KiB
WORDS_PER_MIB = MIB // (4 * FEATURES)
ACTIVATIONS_MIB = (8, 25)
NONLINEARITIES = (1, 5)  # each keeps its activations for backward
EARLIER_BEYOND_THE_PEAK = (1.4, 2.1)


class StepWithAPeak:
    """One step of training a small network on word vectors that stay as they are.

    What the vectors and weights take is there all the time; activations and gradients are freed before a call ends.
    """

    __slots__ = ("inputs", "labels", "model", "optimizer")

    def __init__(self, seed: int, activations_mib: int, nonlinearities: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        rows = activations_mib * ROWS_PER_MIB
        words = activations_mib * WORDS_PER_MIB
        vectors = nn.Embedding.from_pretrained(torch.randn(words, FEATURES, generator=generator))
        hidden = [nn.Linear(FEATURES, HIDDEN), *(nn.Tanh() for _ in range(nonlinearities))]
        self.model = nn.Sequential(vectors, *hidden, nn.Linear(HIDDEN, CLASSES)).to("cuda")
        trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.SGD(trained, lr=0.01)
        self.inputs = torch.randint(0, words, (rows,), generator=generator).to("cuda")
        self.labels = torch.randint(0, CLASSES, (rows,), generator=generator).to("cuda")

    def __call__(self) -> None:
        observe.record("workload", phase="begin", reserved_bytes=reserved_bytes())
        self.train()
        observe.record("workload", phase="end")

    def train(self) -> None:
        loss = nn.functional.cross_entropy(self.model(self.inputs), self.labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


def build(seed: int, activations_mib: int | None = None) -> StepWithAPeak:
    """A step that ran before, so that only its own peak is new, and a larger peak left in the counters."""
    draw = random.Random(seed)
    drawn_mib, nonlinearities = draw.randrange(*ACTIVATIONS_MIB), draw.randrange(*NONLINEARITIES)
    activations_mib = activations_mib or drawn_mib
    step = StepWithAPeak(seed, activations_mib, nonlinearities)
    step.train()  # libraries allocate their workspaces at the first call
    torch.cuda.synchronize()
    peak_mib = (nonlinearities + 3) * activations_mib  # at the start of backward, nearly
    earlier_mib = round(peak_mib * draw.uniform(*EARLIER_BEYOND_THE_PEAK))
    earlier = torch.empty(earlier_mib * MIB, dtype=torch.uint8, device="cuda")
    del earlier
    return step


def expect(seed: int, activations_mib: int | None = None) -> dict[str, int]:
    """The peak of one call, what is left after it, the older peak, and what the allocator then held."""
    step = build(seed, activations_mib)
    earlier_peak_bytes, reserved = torch.cuda.max_memory_allocated(), reserved_bytes()
    torch.cuda.reset_peak_memory_stats()
    step.train()
    torch.cuda.synchronize()
    return {
        "peak_bytes": torch.cuda.max_memory_allocated(),
        "kept_bytes": torch.cuda.memory_allocated(),
        "earlier_peak_bytes": earlier_peak_bytes,
        "reserved_bytes": reserved,
    }


def reserved_bytes() -> int:
    """What the caching allocator holds, in use or not."""
    return int(torch.cuda.memory_stats()["reserved_bytes.all.current"])
