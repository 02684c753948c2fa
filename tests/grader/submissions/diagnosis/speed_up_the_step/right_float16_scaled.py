import torch


def train(model, loss_of, optimizer, batches):
    scaler = torch.amp.GradScaler("cuda")
    losses = []
    for inputs, targets in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = loss_of(model(inputs), targets)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.detach())
    return losses
