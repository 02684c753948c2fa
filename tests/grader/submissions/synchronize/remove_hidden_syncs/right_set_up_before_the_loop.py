import torch


class Tracker:
    def __init__(self):
        self.waits = 0
        self.sum = torch.zeros((), device="cuda", dtype=torch.float64)
        self.low = torch.tensor(float("inf"), device="cuda")
        self.bad = torch.zeros((), dtype=torch.bool, device="cuda")

    @torch.no_grad()
    def add(self, loss):
        self.sum += loss
        self.low = torch.where(loss < self.low, loss, self.low)
        self.bad |= torch.isnan(loss)

    def read(self, value):
        self.waits += 1
        return value.item()


def train(loop):
    tracker = Tracker()
    for step, (images, labels) in enumerate(loop.batches):
        loss = loop.step(images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True))
        tracker.add(loss)
        if step % 8 == 0:
            loop.log(step, tracker.read(loss))
    if tracker.read(tracker.bad):
        raise ValueError("nan")
    mean = tracker.read(tracker.sum) / len(loop.batches)
    return {"mean_loss": mean, "lowest_loss": tracker.read(tracker.low), "waits": tracker.waits}
