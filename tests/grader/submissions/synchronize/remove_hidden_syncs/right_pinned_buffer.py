import torch


def train(loop):
    buffer = torch.empty(len(loop.batches)).pin_memory()
    for i, (images, labels) in enumerate(loop.batches):
        loss = loop.step(images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True))
        buffer[i].copy_(loss.detach(), non_blocking=True)
    torch.cuda.current_stream().synchronize()
    values = buffer.tolist()
    for step in range(0, len(values), 8):
        loop.log(step, values[step])
    if buffer.isnan().any():
        raise ArithmeticError("nan")
    return {"mean_loss": buffer.mean().item(), "lowest_loss": min(values), "waits": 1}
