"""Real time of the simulated GPU beside the plain CPU: per small op, and per training step of the course's size.

python tests/benchmarks/dispatch_overhead.py
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import torch
from torch import nn

import lab.gpu
from lab.gpu.clock import real_s


def median_s(work: Callable[[], object], runs: int) -> float:
    times = []
    for _ in range(runs):
        began = real_s()
        work()
        times.append(real_s() - began)
    return statistics.median(times)


def small_op(device: str) -> float:
    a = torch.ones(16, 16, device=device)

    def many() -> None:
        for _ in range(500):
            a + a

    def waiting() -> None:
        many()
        if device == "cuda":
            torch.cuda.synchronize()

    waiting()
    return median_s(many if device == "cpu" else waiting, 9) / 500


def training_step(device: str) -> Callable[[], float]:
    net = nn.Sequential(
        nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 28 * 28, 128)
    ).to(device)
    optimizer = torch.optim.AdamW(net.parameters())
    x, y = torch.randn(64, 3, 32, 32, device=device), torch.randint(0, 128, (64,), device=device)

    def step() -> float:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    step()
    return step


def main() -> None:
    lab.gpu.use()
    torch.set_num_threads(1)
    cpu, gpu = small_op("cpu"), small_op("cuda")
    print(f"small op: CPU {cpu * 1e6:.1f} us, simulated GPU {gpu * 1e6:.1f} us, overhead {(gpu - cpu) * 1e6:.1f} us")
    steps = {device: training_step(device) for device in ("cpu", "cuda")}
    times = {device: median_s(step, 5) for device, step in steps.items()}
    from lab.gpu.device import clock

    hidden = clock.left_out_s
    print(
        f"training step: CPU {times['cpu'] * 1e3:.0f} ms, simulated GPU {times['cuda'] * 1e3:.0f} ms of real time "
        f"(it waits for its own timeline), ratio {times['cuda'] / times['cpu']:.2f}; clock behind by {hidden:.2f} s"
    )


if __name__ == "__main__":
    main()
