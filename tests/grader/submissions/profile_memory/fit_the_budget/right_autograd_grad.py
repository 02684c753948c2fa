import torch
from torch.nn.functional import cross_entropy


def train_step(model, optimizer, inputs, targets):
    params = list(model.parameters())
    grads = [torch.zeros_like(p) for p in params]
    losses = []
    for x, y in zip(inputs.split(128), targets.split(128), strict=False):
        share = x.shape[0] / inputs.shape[0]
        loss = cross_entropy(model(x), y) * share
        for g, new in zip(grads, torch.autograd.grad(loss, params), strict=False):
            g += new
        losses.append(loss.detach())
    for p, g in zip(params, grads, strict=False):
        p.grad = g
    optimizer.step()
    return torch.stack(losses).sum()
