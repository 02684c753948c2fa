"""Six training loops, each limited by something else: input, copies, host reads, launches, computing, or memory."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from time import perf_counter

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, Dataset

from lab import observe
from lab.workloads.sizing import gpu_seconds, matmul_edge
from lab.workloads.training_loop import waiting

KINDS = ("input", "copies", "sync", "launch", "compute", "memory")
STEPS = 4
PIXELS = 64
PRODUCT_LAYERS = {"input": (2, 3), "copies": (1, 2), "compute": (6, 8), "memory": (0, 1)}
WAITS = (2.3, 2.7)  # reading a batch, or copying it, in steps of the GPU
STAGES, STAGE_LAYERS = 3, 2
BOOKKEEPING = (0.9, 1.1)  # the host's work after each host read, in parts of the GPU's before it
TINY_LAYERS, TINY_ROWS, TINY_WIDTH = (40, 50), 8, 16
ELEMENTWISE = (18, 22)
ELEMENTWISE_AT_LEAST_S, LARGEST_ELEMENTWISE = 0.0005, 2**26

Stage = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Batches(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """A few batches, the same one again and again, each of which may take a while to read."""

    def __init__(self, images: torch.Tensor, labels: torch.Tensor, read: Callable[[], None]) -> None:
        self.images, self.labels, self.read = images, labels, read

    def __len__(self) -> int:
        return STEPS

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        self.read()
        return self.images, self.labels


class Loop:
    """A loop over a few batches. Call it to run all of it, or go through it yourself:

    for images, labels in train.batches():
        train.step(images, labels)

    `batches` hands out what the loader reads, on the CPU. `step` copies it to the GPU and trains on it.
    """

    __slots__ = ("loader", "stages")

    def __init__(self, loader: DataLoader[tuple[torch.Tensor, torch.Tensor]], stages: list[Callable[..., object]]):
        self.loader = loader
        self.stages = stages

    def __call__(self) -> None:
        for images, labels in self.batches():
            self.step(images, labels)

    def batches(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        yield from self.loader

    def step(self, images: torch.Tensor, labels: torch.Tensor) -> None:
        observe.record("workload", phase="step")
        images, labels = images.to("cuda"), labels.to("cuda")
        for stage in self.stages:
            stage(images, labels)


def training(model: nn.Module) -> Stage:
    """One step of training the model on as many rows as keep the GPU's products large, made from one batch."""
    model = model.to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def train(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss: torch.Tensor = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return train


class Crops(nn.Module):
    """Many crops of each image, as wide as the layers that follow."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        edge = matmul_edge()
        return images[:, :PIXELS].repeat(edge // len(images), edge // PIXELS)


class Elementwise(nn.Module):
    """Activations that are changed one by one, again and again: much to move, little to compute."""

    def __init__(self, elements: int, times: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(elements))
        self.times = times

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.scale
        for _ in range(self.times):
            y = torch.tanh(y)
        return x + y.mean()


def network(layers: int, *first: nn.Module) -> nn.Sequential:
    edge = matmul_edge()
    hidden = [layer for _ in range(layers) for layer in (nn.Linear(edge, edge), nn.ReLU())]
    return nn.Sequential(Crops(), *first, *hidden, nn.Linear(edge, 10))


def tiny_network(layers: int) -> nn.Sequential:
    hidden = [layer for _ in range(layers) for layer in (nn.Linear(TINY_WIDTH, TINY_WIDTH), nn.Tanh())]
    return nn.Sequential(nn.Linear(PIXELS, TINY_WIDTH), *hidden, nn.Linear(TINY_WIDTH, 10))


def elements_of(seconds: float) -> int:
    """How many values keep this GPU busy for so long with one operation on each."""
    elements = 2**18
    while elements < LARGEST_ELEMENTWISE and gpu_seconds(torch.ones(elements, device="cuda").tanh, 2) < seconds:
        elements *= 2
    return elements


def reading(train: Stage, bookkeeping: Callable[[], None]) -> Callable[..., None]:
    """A stage after which the host reads the loss and writes it down before it goes on."""

    def stage(images: torch.Tensor, labels: torch.Tensor) -> None:
        if train(images, labels).item() >= 0:
            bookkeeping()

    return stage


def at_once() -> None:
    """What waiting for nothing is. Not sleep(0): that gives the processor away."""


def kind_of(seed: int) -> str:
    return random.Random(seed).choice(KINDS)


def build(seed: int) -> Loop:
    """A loop; the seed decides what limits it."""
    draw = random.Random(seed)
    kind = draw.choice(KINDS)
    rows = TINY_ROWS if kind == "launch" else 4
    generator = torch.Generator().manual_seed(seed)
    images = torch.randn(rows, PIXELS, generator=generator)
    # The networks train on more rows than they are given labels for; a tiny one takes what there is.
    labels = torch.randint(0, 10, (rows if kind == "launch" else matmul_edge(),), generator=generator)

    def seconds(stage: Callable[..., object]) -> float:
        on_gpu = images.to("cuda"), labels.to("cuda")
        return gpu_seconds(lambda: stage(*on_gpu), runs=2)

    stages: list[Callable[..., object]]
    read: Callable[[], None] = at_once
    if kind == "launch":
        stages = [training(tiny_network(draw.randrange(*TINY_LAYERS)))]
    elif kind == "sync":
        trains = [training(network(STAGE_LAYERS)) for _ in range(STAGES)]
        bookkeeping = waiting(seconds(trains[0]) * draw.uniform(*BOOKKEEPING))
        stages = [reading(train, bookkeeping) for train in trains]
    else:
        first = (
            [Elementwise(elements_of(ELEMENTWISE_AT_LEAST_S), draw.randrange(*ELEMENTWISE))] if kind == "memory" else []
        )
        train = training(network(draw.randrange(*PRODUCT_LAYERS[kind]), *first))
        stages = [reading(train, at_once) if kind == "compute" else train]
        if kind == "input":
            read = waiting(seconds(train) * draw.uniform(*WAITS))
        if kind == "copies":
            copy_s = gpu_seconds(lambda: labels.new_empty(2**17).to("cuda"), runs=2)  # 1 MiB
            columns = int(seconds(train) * draw.uniform(*WAITS) / copy_s * 2**18 / rows)
            images = torch.randn(rows, 1, generator=generator).repeat(1, columns)
    batches = Batches(images, labels, at_once)
    loop = Loop(DataLoader(batches, batch_size=None), stages)
    next(loop.batches())  # what is done only once, by libraries and by the loader
    for stage in stages:
        stage(images.to("cuda"), labels.to("cuda"))
    torch.cuda.synchronize()
    batches.read = read
    return loop


def expect(seed: int, measure: bool = False) -> object:
    """Six loops, one of each kind, in an order drawn from the seed; or what a profile of the seed's own loop shows."""
    if measure:
        return facts(build(seed))
    draw = random.Random(seed)
    seeds: dict[str, int] = {}
    while len(seeds) < len(KINDS):
        candidate = draw.randrange(2**31)
        seeds.setdefault(kind_of(candidate), candidate)
    loops = [{"kind": kind, "seed": loop_seed} for kind, loop_seed in seeds.items()]
    draw.shuffle(loops)
    return loops


def facts(loop: Loop) -> dict[str, float]:
    """What a profile of the loop shows, as shares of its time and numbers per step."""
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        begin = perf_counter()
        loop()
        torch.cuda.synchronize()
        loop_s = perf_counter() - begin
    rows = prof.key_averages()
    on_gpu = [row for row in rows if row.device_type.name == "CUDA" and not row.is_user_annotation]
    copy_s = sum(row.self_device_time_total for row in on_gpu if row.key.startswith("Memcpy HtoD")) / 1e6
    kernels = [row for row in on_gpu if not row.key.startswith(("Memcpy", "Memset"))]
    kernel_s = sum(row.self_device_time_total for row in kernels) / 1e6
    products_s = sum(row.self_device_time_total for row in rows if row.key in ("aten::mm", "aten::addmm")) / 1e6
    loader_s = sum(row.cpu_time_total for row in rows if row.key.startswith("enumerate(DataLoader)")) / 1e6
    launched = sum(row.count for row in kernels)
    return {
        "busy": min(1.0, kernel_s / loop_s),
        "idle": max(0.0, 1 - kernel_s / loop_s),
        "copying": copy_s / loop_s,
        "loading": loader_s / loop_s,
        "products": products_s / kernel_s,
        "kernel_us": kernel_s / launched * 1e6,
        "kernels": launched / STEPS,
        "reads": sum(row.count for row in rows if row.key == "aten::item") / STEPS,
    }
