def train(model, loss_of, optimizer, batches):
    model.cpu()
    losses = []
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss = loss_of(model(inputs.cpu()), targets.cpu())
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    model.cuda()
    return losses
