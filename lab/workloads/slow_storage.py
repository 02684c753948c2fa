"""Images on slow storage, and the two epochs of training that show how well a loader feeds the GPU with them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from lab import observe
from lab.gpu import wait
from lab.gpu.clock import real_s  # workers live in real time, and so do the drives that they read

BATCH_SIZE = 4
READ_S = 0.02
FEWEST_IMAGES = 45  # never a multiple of the batch size: the last batch is smaller than the others
PIXELS = 3 * 16 * 16
sleep: Callable[[float], None] = time.sleep
RETRIES = 5  # workers take long to start on a busy machine: the fastest epoch counts, as in any benchmark


class SlowImages(Dataset[tuple[torch.Tensor, int]]):
    """Images with labels. Reading one takes 20 ms of waiting, as from a network drive; no processor is needed."""

    def __init__(self, seed: int) -> None:
        self.count = FEWEST_IMAGES + random.Random(seed).randrange(3)
        self.seed = seed
        # How long each image was waited for, whichever process read it.
        self.waited_s = torch.zeros(self.count, dtype=torch.float64).share_memory_()

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        if not 0 <= index < self.count:
            raise IndexError(f"There are {self.count} images; image {index} is not one of them.")
        begin_s = real_s()
        sleep(READ_S)
        self.waited_s[index] = real_s() - begin_s
        generator = torch.Generator().manual_seed(self.seed * 1000 + index)
        # Whole numbers, so that sums are exact in any order.
        image = torch.randint(0, 256, (3, 16, 16), generator=generator).float()
        return image, int(torch.randint(0, 1000, (), generator=generator))


class Epochs:
    """Trains a small classifier, one epoch at a time, and notes which batches came."""

    def __init__(self) -> None:
        self.model = nn.Sequential(nn.Flatten(), nn.Linear(PIXELS, 64), nn.ReLU(), nn.Linear(64, 1000)).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.001)

    def run(
        self, loader: DataLoader[tuple[torch.Tensor, int]], now_s: Callable[[], float] = real_s
    ) -> tuple[float, list[list[int]]]:
        """Train one epoch. Return how many seconds it took, and for each batch its labels and the sum of its pixels."""
        batches: list[list[int]] = []
        torch.cuda.synchronize()
        begin_s = now_s()
        for images, labels in loader:
            batches.append([*labels.tolist(), int(images.double().sum())])
            images, labels = images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)
            self.optimizer.zero_grad()
            nn.functional.cross_entropy(self.model(images / 255), labels).backward()
            self.optimizer.step()
        torch.cuda.synchronize()
        return now_s() - begin_s, batches


built: list[SlowImages] = []  # in this process, for finish()


def build(seed: int) -> SlowImages:
    """The data set alone."""
    built.append(SlowImages(seed))
    return built[-1]


def finish(returned: object, seed: int) -> dict[str, object]:
    """Train some epochs with the loader that came back.

    The first one warms up (workers start, caches fill); a later one shows what all that follow will be like.
    """
    if not isinstance(returned, DataLoader):
        return {"is_loader": False}
    images = built.pop()
    epochs = Epochs()
    _, first = epochs.run(returned)
    epoch_s, second = epochs.run(returned)
    for _ in range(RETRIES):
        if epoch_s <= len(images) * READ_S / 2 or returned.num_workers < 2:
            break
        again_s, second = epochs.run(returned)
        epoch_s = min(epoch_s, again_s)
    waited_s = images.waited_s.tolist()  # kept or read ahead, each image has to come from the storage once
    return {"is_loader": True, "epoch_s": epoch_s, "first": first, "second": second, "waited_s": waited_s}


def expect(seed: int) -> dict[str, object]:
    """How long an epoch with a plain loader takes, its batches, and how long it waits for an image."""
    global sleep
    sleep = wait  # nobody's workers are here, so no real time has to pass
    epoch_s, batches = Epochs().run(DataLoader(SlowImages(seed), batch_size=BATCH_SIZE), observe.lab_time_s)
    return {"epoch_s": epoch_s, "batches": batches, "read_s": READ_S}
