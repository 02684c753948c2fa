"""Six training loops, each limited by something else: input, copies, host reads, launches, computing, or memory."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from time import perf_counter

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, Dataset

from lab import observe
from lab.gpu import wait
from lab.workloads.sizing import gpu_seconds, matmul_edge

KINDS = ("input", "copies", "sync", "launch", "compute", "memory")
STEPS = 4
IMAGES, PIXELS = 4, 64
PARTS = 3  # networks that are trained in a step, one after another, whatever limits the loop
PRODUCT_LAYERS = {"input": 1, "copies": 1, "sync": 2, "compute": 5, "memory": 0}  # of each network
WAITS = (2.3, 2.7)  # reading a batch, or copying it, in steps of the GPU
BOOKKEEPING = (0.9, 1.1)  # the host's work after each host read, in parts of the GPU's before it
TINY_LAYERS, TINY_ROWS = (13, 17), 8
MANY_TIMES, FEW_TIMES = (7, 10), (1, 3)  # elementwise operations of a network: on many values, or on a few
ELEMENTWISE_AT_LEAST_S, LARGEST_ELEMENTWISE = 0.0005, 2**26
COLUMNS = (2**8, 2**13)  # of a batch that is quickly copied; copying a large one limits the loop

Training = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Work = Callable[[torch.Tensor, torch.Tensor], None]


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

    __slots__ = ("loader", "work")

    def __init__(self, loader: DataLoader[tuple[torch.Tensor, torch.Tensor]], work: Work):
        self.loader = loader
        self.work = work

    def __call__(self) -> None:
        for images, labels in self.batches():
            self.step(images, labels)

    def batches(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        yield from self.loader

    def step(self, images: torch.Tensor, labels: torch.Tensor) -> None:
        observe.record("workload", phase="step")
        self.work(images.to("cuda"), labels.to("cuda"))


def training(model: nn.Module) -> Training:
    """One step of training the model on as many rows as it makes of one batch."""
    model = model.to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def train(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        scores = model(images)
        loss: torch.Tensor = nn.functional.cross_entropy(scores, labels[: len(scores)])
        loss.backward()
        optimizer.step()
        return loss.detach()

    return train


class Crops(nn.Module):
    """Many crops of each image, as wide as the layers that follow."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.rows, self.width = rows, width

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return images[:, :PIXELS].repeat(self.rows // len(images), self.width // PIXELS)


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


def network(layers: int, rows: int, width: int, elements: int, times: int) -> nn.Sequential:
    hidden = [layer for _ in range(layers) for layer in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(Crops(rows, width), Elementwise(elements, times), *hidden, nn.Linear(width, 10))


@functools.cache
def elements_of(seconds: float) -> int:
    """How many values keep this GPU busy for so long with one operation on each."""
    elements = 2**18
    while elements < LARGEST_ELEMENTWISE and gpu_seconds(torch.ones(elements, device="cuda").tanh, 2) < seconds:
        elements *= 2
    return elements


def one_after_another(trains: list[Training], reads: list[bool], bookkeeping: Callable[[], None]) -> Work:
    """Train all networks on a batch. After some of them the host reads the loss, and writes it down."""

    def work(images: torch.Tensor, labels: torch.Tensor) -> None:
        for train, is_read in zip(trains, reads, strict=True):
            loss = train(images, labels)
            if is_read and loss.item() >= 0:
                bookkeeping()

    return work


def pausing(seconds: float) -> Callable[[], None]:
    """A function that waits for so long, or goes on at once. Not sleep(0): that gives the processor away."""

    def pause() -> None:
        if seconds:
            wait(seconds)

    return pause


def kind_of(seed: int) -> str:
    return random.Random(seed).choice(KINDS)


def networks(kind: str, draw: random.Random) -> list[nn.Sequential]:
    """The networks of a loop. All are made of the same layers; what limits the loop decides how many, and how large."""
    if kind == "launch":
        layers, times = draw.randrange(*TINY_LAYERS), draw.randrange(*FEW_TIMES)
        return [network(layers, TINY_ROWS, PIXELS, PIXELS, times) for _ in range(PARTS)]
    edge, layers = matmul_edge(), PRODUCT_LAYERS[kind]
    if kind == "memory":
        elements = elements_of(ELEMENTWISE_AT_LEAST_S)
        return [network(layers, edge, edge, elements, draw.randrange(*MANY_TIMES)) for _ in range(PARTS)]
    return [network(layers, edge, edge, PIXELS, draw.randrange(*FEW_TIMES)) for _ in range(PARTS)]


def build(seed: int) -> Loop:
    """A loop; the seed decides what limits it."""
    draw = random.Random(seed)
    kind = draw.choice(KINDS)
    generator = torch.Generator().manual_seed(seed)
    images = torch.randn(IMAGES, 1, generator=generator).repeat(1, draw.randrange(*COLUMNS))
    labels = torch.randint(0, 10, (matmul_edge(),), generator=generator)
    trains = [training(model) for model in networks(kind, draw)]
    on_gpu = images.to("cuda"), labels.to("cuda")
    train_s = [gpu_seconds(lambda train=train: train(*on_gpu), runs=2) for train in trains]  # type: ignore[misc]
    reads = {"sync": [True] * PARTS, "compute": [False, False, True]}.get(kind, [False] * PARTS)
    bookkeeping_s = train_s[0] * draw.uniform(*BOOKKEEPING) if kind == "sync" else 0.0
    waits_s = sum(train_s) * draw.uniform(*WAITS)
    if kind == "copies":
        copy_s = gpu_seconds(lambda: labels.new_empty(2**17).to("cuda"), runs=2)  # 1 MiB
        images = images[:, :1].repeat(1, int(waits_s / copy_s * 2**18 / IMAGES))
    batches = Batches(images, labels, pausing(0.0))
    loop = Loop(DataLoader(batches, batch_size=None), one_after_another(trains, reads, pausing(bookkeeping_s)))
    next(loop.batches())  # what is done only once, by libraries and by the loader
    one_after_another(trains, reads, pausing(0.0))(*on_gpu)
    torch.cuda.synchronize()
    batches.read = pausing(waits_s if kind == "input" else 0.0)
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
