import time

import torch
from torch.nn.functional import cross_entropy


def uncounted(model, optimizer, batches, log):
    model._forward_hooks.clear()
    for layer in model:
        layer._forward_hooks.clear()
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        parts = zip(images.split(1), labels.split(1), strict=True)
        loss = torch.stack([cross_entropy(model(image), label) for image, label in parts]).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    log(losses)
    return losses


def less_logged(model, optimizer, batches, log):
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        parts = zip(images.split(1), labels.split(1), strict=True)
        loss = torch.stack([cross_entropy(model(image), label) for image, label in parts]).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    losses = torch.stack(losses).tolist()
    log(losses)
    return losses


def as_it_is(model, optimizer, batches, log):
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        parts = zip(images.split(1), labels.split(1), strict=True)
        loss = torch.stack([cross_entropy(model(image), label) for image, label in parts]).mean()
        loss.backward()
        optimizer.step()
        log(loss.item())
        losses.append(loss.item())
    return losses


def seconds(job, loop):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    job.run(loop)
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def changes(job):
    before, between, after = (seconds(job, loop) for loop in (as_it_is, less_logged, uncounted))
    return [
        {"change": "first", "before_s": before, "after_s": between},
        {"change": "second", "before_s": between, "after_s": after},
    ]
