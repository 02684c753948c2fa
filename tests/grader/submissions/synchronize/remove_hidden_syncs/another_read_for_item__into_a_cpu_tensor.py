import torch


def train(loop):
    losses = torch.zeros(len(loop.batches))
    waits = 0
    for step, (images, labels) in enumerate(loop.batches):
        loss = loop.step(images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)).detach()
        losses[step] = loss
        if step % 8 == 0:
            loop.log(step, loss.item())
            waits += 1
    if losses.isnan().any():
        raise ArithmeticError
    return {"mean_loss": losses.mean().item(), "lowest_loss": losses.min().item(), "waits": waits}
