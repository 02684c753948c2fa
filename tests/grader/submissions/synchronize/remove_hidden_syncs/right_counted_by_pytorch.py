import warnings

import torch


def train(loop):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        losses = []
        for step, batch in enumerate(loop.batches):
            images, labels = (part.to("cuda", non_blocking=True) for part in batch)
            losses.append(loop.step(images, labels).detach())
            if step % 8 == 0:
                loop.log(step, losses[-1].item())
        losses = torch.stack(losses)
        mean, lowest = losses.mean().item(), losses.min().item()
        torch.cuda.set_sync_debug_mode("default")
    if mean != mean:
        raise ArithmeticError("a loss isn't a number")
    waits = sum("synchronizing" in str(warning.message) for warning in caught)
    return {"mean_loss": mean, "lowest_loss": lowest, "waits": waits}
