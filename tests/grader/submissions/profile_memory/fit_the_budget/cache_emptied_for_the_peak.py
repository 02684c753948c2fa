import torch
from torch.nn.functional import cross_entropy


def train_step(model, optimizer, inputs, targets):
    optimizer.zero_grad(set_to_none=True)
    torch.cuda.empty_cache()
    loss = cross_entropy(model(inputs), targets)
    torch.cuda.empty_cache()
    loss.backward()
    torch.cuda.empty_cache()
    optimizer.step()
    return loss.detach()
