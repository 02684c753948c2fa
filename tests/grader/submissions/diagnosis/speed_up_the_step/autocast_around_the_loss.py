import torch


def train(model, loss_of, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        optimizer.zero_grad()
        outputs = model(inputs)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = loss_of(outputs, targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses
