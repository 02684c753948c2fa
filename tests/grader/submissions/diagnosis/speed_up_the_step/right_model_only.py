import torch


def train(model, loss_of, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            outputs = model(inputs)
        loss = loss_of(outputs.float(), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses
