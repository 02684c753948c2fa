import torch


def train(loop):
    losses = []
    lowest = torch.full((), float("inf"), device="cuda")
    for step, (images, labels) in enumerate(loop.batches):
        images, labels = images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)
        loss = loop.step(images, labels).detach()
        losses.append(loss.cpu())  # no .item() any more
        lowest = torch.minimum(lowest, loss)
        if step % 8 == 0:
            loop.log(step, loss.item())
    total = torch.stack(losses).sum()
    if torch.isnan(total):
        raise ArithmeticError("A loss isn't a number.")
    return {"mean_loss": total.item() / len(loop.batches), "lowest_loss": lowest.item(), "waits": 28}
