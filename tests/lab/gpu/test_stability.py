"""The same program keeps the simulated GPU equally busy every time, on an idle and on a loaded machine."""

import os
import statistics
import subprocess
import sys

import pytest
import torch
from torch import nn

import lab.gpu
from lab import observe


@pytest.fixture
def loaded():
    """Both processors busy with something else."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    yield
    for process in busy:
        process.kill()
        process.wait()


def program():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 900, 64), nn.Linear(64, 10))
    net.to("cuda")
    optimizer = torch.optim.AdamW(net.parameters())
    x, y = torch.randn(16, 3, 32, 32), torch.randint(0, 10, (16,))
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x.to("cuda")), y.to("cuda"))
        loss.backward()
        optimizer.step()
        loss.item()


def seen():
    torch.cuda.reset_peak_memory_stats()
    observe.start()
    program()
    launches = [event for event in observe.finish() if event["what"] == "launch"]
    work = [(event["name"], round(event["end_s"] - event["begin_s"], 9)) for event in launches]
    busy_s = sum(duration for _, duration in work)
    span_s = launches[-1]["end_s"] - launches[0]["begin_s"]
    return work, torch.cuda.max_memory_allocated(), busy_s, span_s


def check():
    if lab.gpu.use().kind == "real":
        pytest.skip("about the simulated GPU")
    program()
    runs = [seen() for _ in range(10)]
    assert len(runs[0][0]) > 50
    for work, peak, _, _ in runs:
        assert work == runs[0][0]
        assert peak == runs[0][1]
    return statistics.median(span_s / busy_s for _, _, busy_s, span_s in runs)


def test_durations_order_and_peak_repeat_exactly():
    # The host's gaps are real time. In this program they are at most a third of the run, at the median of ten.
    assert check() < 1.5


def test_durations_order_and_peak_repeat_exactly_on_a_loaded_machine(loaded):
    assert check() < 4
