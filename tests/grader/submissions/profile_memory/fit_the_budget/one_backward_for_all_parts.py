from torch.nn.functional import cross_entropy


def train_step(model, optimizer, inputs, targets):
    optimizer.zero_grad()
    loss = 0.0
    for x, y in zip(inputs.split(128), targets.split(128), strict=True):
        loss = loss + cross_entropy(model(x), y, reduction="sum") / len(inputs)
    loss.backward()
    optimizer.step()
    return loss.detach()
