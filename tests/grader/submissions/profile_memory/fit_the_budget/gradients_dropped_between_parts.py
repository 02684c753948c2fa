from torch.nn.functional import cross_entropy

PARTS = 4


def train_step(model, optimizer, inputs, targets):
    total = 0.0
    for x, y in zip(inputs.chunk(PARTS), targets.chunk(PARTS), strict=True):
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y, reduction="sum") / len(inputs)
        loss.backward()
        total += loss.detach()
    optimizer.step()
    return total
