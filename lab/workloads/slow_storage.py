"""Images on slow storage, and the two epochs of training that show how well a loader feeds the GPU with them."""

from __future__ import annotations

import random
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH_SIZE = 4
READ_S = 0.02
FEWEST_IMAGES = 45  # never a multiple of the batch size: the last batch is smaller than the others
PIXELS = 3 * 16 * 16
RETRIES = 2  # workers take long to start on a busy machine: the fastest epoch counts, as in any benchmark


class SlowImages(Dataset[tuple[torch.Tensor, int]]):
    """Images with labels. Reading one takes 20 ms of waiting, as from a network drive; no processor is needed."""

    def __init__(self, seed: int, read_s: float = READ_S) -> None:
        self.count = FEWEST_IMAGES + random.Random(seed).randrange(3)
        self.seed = seed
        self.read_s = read_s

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        if not 0 <= index < self.count:
            raise IndexError(f"There are {self.count} images; image {index} is not one of them.")
        time.sleep(self.read_s)
        generator = torch.Generator().manual_seed(self.seed * 1000 + index)
        # Whole numbers, so that sums are exact in any order.
        image = torch.randint(0, 256, (3, 16, 16), generator=generator).float()
        return image, int(torch.randint(0, 1000, (), generator=generator))


class Epochs:
    """Trains a small classifier, one epoch at a time, and notes which batches came."""

    def __init__(self) -> None:
        self.model = nn.Sequential(nn.Flatten(), nn.Linear(PIXELS, 64), nn.ReLU(), nn.Linear(64, 1000)).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.001)

    def run(self, loader: DataLoader[tuple[torch.Tensor, int]]) -> tuple[float, list[list[int]]]:
        """Train one epoch. Return how many seconds it took, and for each batch its labels and the sum of its pixels."""
        batches: list[list[int]] = []
        torch.cuda.synchronize()
        begin_s = time.perf_counter()
        for images, labels in loader:
            batches.append([*labels.tolist(), int(images.double().sum())])
            images, labels = images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)
            self.optimizer.zero_grad()
            nn.functional.cross_entropy(self.model(images / 255), labels).backward()
            self.optimizer.step()
        torch.cuda.synchronize()
        return time.perf_counter() - begin_s, batches


def build(seed: int) -> SlowImages:
    """The data set alone."""
    return SlowImages(seed)


def finish(returned: object, seed: int) -> dict[str, object]:
    """Train one epoch with a plain loader, then some with the one that came back.

    Its first epoch warms up (workers start, caches fill); a later one shows what all that follow will be like.
    """
    if not isinstance(returned, DataLoader):
        return {"is_loader": False}
    epochs = Epochs()
    plain_s, expected = epochs.run(DataLoader(SlowImages(seed), batch_size=BATCH_SIZE))
    _, first = epochs.run(returned)
    epoch_s, second = epochs.run(returned)
    for _ in range(RETRIES):
        if epoch_s <= plain_s / 2 or returned.num_workers < 2:
            break
        again_s, second = epochs.run(returned)
        epoch_s = min(epoch_s, again_s)
    return {
        "is_loader": True,
        "epoch_s": epoch_s,
        "plain_s": plain_s,
        "first": first,
        "second": second,
        "expected": expected,
    }
