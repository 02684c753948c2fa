from torch.nn.functional import cross_entropy


def train_step(model, optimizer, inputs, targets):
    model.cpu()
    optimizer.zero_grad()
    loss = cross_entropy(model(inputs.cpu()), targets.cpu())
    loss.backward()
    optimizer.step()
    model.cuda()
    return loss.detach()
