import torch


def train(model, loss_of, optimizer, batches):
    losses = []
    for inputs, targets in batches:

        def closure(inputs=inputs, targets=targets):
            optimizer.zero_grad()
            with torch.amp.autocast("cuda", torch.bfloat16):
                out = model(inputs)
            loss = loss_of(out.float(), targets)
            loss.backward()
            return loss

        losses.append(float(optimizer.step(closure)))
    return losses
