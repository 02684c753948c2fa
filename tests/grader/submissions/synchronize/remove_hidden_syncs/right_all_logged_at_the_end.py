import torch


def train(loop):
    losses = []
    for images, labels in loop.batches:
        images, labels = images.cuda(non_blocking=True), labels.cuda(non_blocking=True)
        losses.append(loop.step(images, labels).detach())
    values = torch.stack(losses).cpu().numpy()
    for step in range(0, len(values), 8):
        loop.log(step, float(values[step]))
    if not (values == values).all():
        raise ArithmeticError("nan")
    return {"mean_loss": float(values.mean()), "lowest_loss": float(values.min()), "waits": 1}
