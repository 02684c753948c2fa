import torch


def train(loop):
    total = 0.0
    lowest = torch.full((), float("inf"), device="cuda")
    for step, (images, labels) in enumerate(loop.batches):
        images, labels = images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)
        loss = loop.step(images, labels).detach()
        total += loss.item()
        lowest = torch.minimum(lowest, loss)
        if step % 8 == 0:
            loop.log(step, loss.item())
    if total != total:
        raise ArithmeticError("A loss isn't a number.")
    return {"mean_loss": total / len(loop.batches), "lowest_loss": lowest.item(), "waits": 28}
