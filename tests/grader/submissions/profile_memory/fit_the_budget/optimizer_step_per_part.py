from torch.nn.functional import cross_entropy

PARTS = 4


def train_step(model, optimizer, inputs, targets):
    total = 0.0
    for x, y in zip(inputs.chunk(PARTS), targets.chunk(PARTS), strict=True):
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(x) / len(inputs)
    return total
