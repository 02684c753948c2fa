import torch


def train(loop):
    total = torch.zeros((), device="cuda")
    lowest = torch.full((), float("inf"), device="cuda")
    waits = 0
    for step, (images, labels) in enumerate(loop.batches):
        loss = loop.step(images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)).detach()
        if torch.is_nonzero(torch.isnan(loss)):
            raise ArithmeticError
        total += loss
        lowest = torch.minimum(lowest, loss)
        if step % 8 == 0:
            loop.log(step, loss.item())
            waits += 1
    return {"mean_loss": total.item() / len(loop.batches), "lowest_loss": lowest.item(), "waits": waits + 2}
