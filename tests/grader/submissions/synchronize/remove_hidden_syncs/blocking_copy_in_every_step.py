import torch


def train(loop):
    total = torch.zeros((), device="cuda")
    lowest = torch.full((), float("inf"), device="cuda")
    for step, (images, labels) in enumerate(loop.batches):
        images, labels = images.to("cuda"), labels.to("cuda")
        loss = loop.step(images, labels).detach()
        total += loss
        lowest = torch.minimum(lowest, loss)
        if step % 8 == 0:
            loop.log(step, loss.item())
    if torch.isnan(total):
        raise ArithmeticError("A loss isn't a number.")
    return {"mean_loss": total.item() / len(loop.batches), "lowest_loss": lowest.item(), "waits": 6}
