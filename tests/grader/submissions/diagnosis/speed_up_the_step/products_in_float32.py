import torch


def train(model, loss_of, optimizer, batches):
    torch.backends.cudnn.benchmark = True
    losses = []
    for inputs, targets in batches:
        inputs = inputs.to("cuda", non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses
