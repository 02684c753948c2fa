def train(model, loss_of, optimizer, batches):
    losses = []
    for number, (inputs, targets) in enumerate(batches, 1):
        optimizer.zero_grad()
        loss = loss_of(model(inputs), targets)
        if number < len(batches):
            loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses
