"""Real time of the simulated GPU beside the plain CPU: per small op, and per training step of the course's size.

python tests/benchmarks/dispatch_overhead.py
"""

from __future__ import annotations

import copy
import statistics
from collections.abc import Callable

import torch
from torch import nn

import lab.gpu
from lab.gpu.clock import real_s

SMALL_OPS = 500
RUNS = 15


def medians_s(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The median real time of each, measured in turns, so that what else the machine does meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(RUNS):
        for name, work in works.items():
            began = real_s()
            work()
            times[name].append(real_s() - began)
    return {name: statistics.median(measured) for name, measured in times.items()}


def small_ops(device: str) -> Callable[[], None]:
    a = torch.ones(16, 16, device=device)

    def many() -> None:
        for _ in range(SMALL_OPS):
            a + a
        if device == "cuda":
            torch.cuda.synchronize()

    many()
    return many


def training_step(net: nn.Module, inputs: torch.Tensor, device: str) -> Callable[[], float]:
    net, inputs = copy.deepcopy(net).to(device), inputs.to(device)
    optimizer = torch.optim.AdamW(net.parameters())
    labels = torch.randint(0, 128, (len(inputs),)).to(device)

    def step() -> float:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(inputs), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    step()
    return step


def networks() -> dict[str, tuple[nn.Module, torch.Tensor]]:
    """A convolutional network and a plain one, of the course's size."""
    convolutions = [nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.Flatten()]
    layers = [layer for _ in range(5) for layer in (nn.Linear(256, 256), nn.ReLU())]
    return {
        "convolutions": (nn.Sequential(*convolutions, nn.Linear(32 * 28 * 28, 128)), torch.randn(64, 3, 32, 32)),
        "linear layers": (nn.Sequential(*layers, nn.Linear(256, 128)), torch.randn(256, 256)),
    }


def main() -> None:
    lab.gpu.use()
    torch.set_num_threads(1)
    s = medians_s({device: small_ops(device) for device in ("cpu", "cuda")})
    cpu_us, gpu_us = (s[device] / SMALL_OPS * 1e6 for device in ("cpu", "cuda"))
    print(f"small op: CPU {cpu_us:.1f} us, simulated GPU {gpu_us:.1f} us, overhead {gpu_us - cpu_us:.1f} us")
    for name, (net, inputs) in networks().items():
        s = medians_s({device: training_step(net, inputs, device) for device in ("cpu", "cuda")})
        print(
            f"training step ({name}): CPU {s['cpu'] * 1e3:.1f} ms, simulated GPU {s['cuda'] * 1e3:.1f} ms of real "
            f"time, ratio {s['cuda'] / s['cpu']:.2f}"
        )


if __name__ == "__main__":
    main()
