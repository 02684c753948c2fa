def train(model, loss_of, optimizer, batches):
    model.bfloat16()
    losses = []
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss = loss_of(model(inputs.bfloat16()).float(), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses
