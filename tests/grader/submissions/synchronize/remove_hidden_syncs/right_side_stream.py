import torch


def batches_on_gpu(loop):
    stream = torch.cuda.Stream()
    for images, labels in loop.batches:
        with torch.cuda.stream(stream):
            images = images.to("cuda", non_blocking=True)
            labels = labels.to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(stream)
        images.record_stream(torch.cuda.current_stream())
        labels.record_stream(torch.cuda.current_stream())
        yield images, labels


def train(loop):
    waits, losses = 0, []
    for step, (images, labels) in enumerate(batches_on_gpu(loop)):
        losses.append(loop.step(images, labels).detach())
        if step % 8 == 0:
            loop.log(step, losses[-1].item())
            waits += 1
    losses = torch.stack(losses).tolist()
    waits += 1
    if any(x != x for x in losses):
        raise ArithmeticError
    return {"mean_loss": sum(losses) / len(losses), "lowest_loss": min(losses), "waits": waits}
