from torch.nn.functional import cross_entropy


def train_step(model, optimizer, inputs, targets):
    optimizer.zero_grad(set_to_none=True)
    scores = model(inputs)
    loss = cross_entropy(scores, targets)
    del scores
    loss.backward()
    optimizer.step()
    return loss.item()
