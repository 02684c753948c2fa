import math

import torch


def train(loop):
    on_host = []
    for images, labels in loop.batches:
        loss = loop.step(images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True))
        on_host.append(loss.detach().to("cpu", non_blocking=True))
    torch.cuda.synchronize()
    values = [v.item() for v in on_host]
    for step in range(0, len(values), 8):
        loop.log(step, values[step])
    if any(math.isnan(v) for v in values):
        raise ArithmeticError("nan")
    return {"mean_loss": sum(values) / len(values), "lowest_loss": min(values), "waits": 1}
