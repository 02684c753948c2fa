import torch
from torch.nn.functional import cross_entropy


def train_step(model, optimizer, inputs, targets):
    optimizer.zero_grad()
    with torch.autograd.graph.save_on_cpu():  # slow copies, but they fit
        loss = cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.detach()
