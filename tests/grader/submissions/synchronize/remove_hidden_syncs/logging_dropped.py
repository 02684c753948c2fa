import torch


def train(loop):
    total = torch.zeros((), device="cuda")
    lowest = torch.full((), float("inf"), device="cuda")
    for images, labels in loop.batches:
        images, labels = images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)
        loss = loop.step(images, labels).detach()
        total += loss
        lowest = torch.minimum(lowest, loss)
    if torch.isnan(total):
        raise ArithmeticError("A loss isn't a number.")
    return {"mean_loss": total.item() / len(loop.batches), "lowest_loss": lowest.item(), "waits": 3}
