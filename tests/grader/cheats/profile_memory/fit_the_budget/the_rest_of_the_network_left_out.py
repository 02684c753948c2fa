import torch
from torch.nn.functional import cross_entropy


def train_step(model, optimizer, inputs, targets):
    with torch.no_grad():
        loss = cross_entropy(model(inputs), targets)
    part = len(inputs) // 2
    optimizer.zero_grad()
    cross_entropy(model(inputs[:part]), targets[:part]).backward()
    optimizer.step()
    return loss
