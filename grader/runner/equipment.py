"""The lab as the child needs it: GPU, observer, workloads. Tests put a module of the same shape in its place."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, cast

from grader.errors import RunnerUnavailable
from grader.verdict import Gpu


class Equipment(Protocol):
    """What the runner asks of the lab."""

    def use(self) -> Gpu: ...
    def warm_up(self) -> None: ...
    def seed_everything(self, seed: int) -> None: ...
    def start_observing(self) -> None: ...
    def finish_observing(self) -> list[dict[str, Any]]: ...
    def build(self, name: str, seed: int, params: dict[str, Any]) -> object: ...
    def finish_workload(self, name: str, returned: object, seed: int, params: dict[str, Any]) -> object: ...
    def expect(self, name: str, seed: int, params: dict[str, Any]) -> object: ...
    def plain(self, value: object) -> Any: ...


def equipment(module: str) -> Equipment:
    return cast(Equipment, import_module(module))


def use() -> Gpu:
    import lab.gpu
    from lab.gpu.errors import UnsupportedTorch

    try:
        gpu = lab.gpu.use()
    except (lab.gpu.GpuUnavailable, UnsupportedTorch, ValueError) as error:
        raise RunnerUnavailable(str(error)) from error
    return Gpu(gpu.kind, gpu.name)


def warm_up() -> None:
    """Pay once for what every run would pay for: the profiler's first start, autograd's and the optimiser's imports."""
    import torch
    from torch.profiler import profile

    torch.set_num_threads(1)  # a thread pool doesn't survive a fork
    with profile() as profiler:
        layer = torch.nn.Linear(4, 4)
        layer(torch.ones(2, 4)).sum().backward()
    profiler.key_averages().table()
    import torch.utils.benchmark
    import torch.utils.data

    import lab.workloads
    from lab.workloads.sizing import matmul_edge

    # Before learner code could change what they are made of, and how fast the GPU multiplies.
    lab.workloads.import_all()
    matmul_edge()
    torch.cuda.empty_cache()
    if torch.cuda.max_memory_allocated():  # a run starts with a GPU that nobody has used
        torch.cuda.reset_peak_memory_stats()


def seed_everything(seed: int) -> None:
    import random

    import torch

    random.seed(seed)
    torch.manual_seed(seed)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(seed % 2**32)


def start_observing() -> None:
    import lab.observe

    lab.observe.start()


def finish_observing() -> list[dict[str, Any]]:
    import lab.observe

    return lab.observe.finish()


def build(name: str, seed: int, params: dict[str, Any]) -> object:
    import lab.workloads

    return lab.workloads.build(name, seed, **params)


def finish_workload(name: str, returned: object, seed: int, params: dict[str, Any]) -> object:
    import lab.workloads

    return lab.workloads.finish(name, returned, seed, **params)


def expect(name: str, seed: int, params: dict[str, Any]) -> object:
    import lab.workloads

    return lab.workloads.expect(name, seed, **params)


def plain(value: object) -> Any:
    import lab.plain

    return lab.plain.plain(value)
