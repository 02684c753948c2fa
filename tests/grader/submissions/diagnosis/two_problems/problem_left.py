import time

import torch
from torch.nn.functional import cross_entropy


def as_it_is(model, optimizer, batches, log) -> list:
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


def first_change(model, optimizer, batches, log) -> list:
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        loss = cross_entropy(model(images), labels)  # a few kernels for all images, not for each
        loss.backward()
        optimizer.step()
        log(loss.item())
        losses.append(loss.item())
    return losses


def both_changes(model, optimizer, batches, log) -> list:
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        loss = cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    log(losses)  # one line, but a wait in each step
    return losses


def seconds(job, loop) -> float:
    torch.cuda.synchronize()
    begin = time.perf_counter()
    job.run(loop)
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def changes(job) -> list:
    before, between, after = (seconds(job, loop) for loop in (as_it_is, first_change, both_changes))
    return [
        {"change": "the model is called once for each batch", "before_s": before, "after_s": between},
        {"change": "the losses are read and logged once", "before_s": between, "after_s": after},
    ]
