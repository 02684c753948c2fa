from torch.nn.functional import cross_entropy


def train_step(model, optimizer, inputs, targets):
    optimizer.zero_grad()
    total = 0.0
    for x, y in zip(inputs.split(200), targets.split(200), strict=True):
        share = len(x) / len(inputs)
        loss = cross_entropy(model(x), y) * share
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total
