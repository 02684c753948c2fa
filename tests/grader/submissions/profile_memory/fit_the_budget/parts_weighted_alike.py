from torch.nn.functional import cross_entropy


def train_step(model, optimizer, inputs, targets):
    optimizer.zero_grad()
    parts = list(zip(inputs.split(200), targets.split(200), strict=True))
    total = 0.0
    for x, y in parts:
        loss = cross_entropy(model(x), y) / len(parts)
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total
