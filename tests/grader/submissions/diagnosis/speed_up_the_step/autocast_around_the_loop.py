import torch


@torch.autocast("cuda", dtype=torch.bfloat16)
def train(model, loss_of, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        loss = loss_of(model(inputs).float(), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())
    return losses
