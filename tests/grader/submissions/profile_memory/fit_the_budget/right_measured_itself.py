import torch
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint


def train_step(model, optimizer, inputs, targets):
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    x = inputs.requires_grad_()  # so that reentrant checkpoints work as well
    for block in model:
        x = checkpoint(block, x, use_reentrant=True)
    loss = cross_entropy(x, targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(torch.cuda.max_memory_allocated())
    return loss.item()
