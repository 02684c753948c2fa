import time

import torch
from torch.nn.functional import cross_entropy


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


def changes(job):
    told = []

    def without_training(model, optimizer, batches, log):
        for images, _ in batches:
            model(images)
        log(told)
        return told

    def without_training_but_logged(model, optimizer, batches, log):
        for (images, _), loss in zip(batches, told, strict=True):
            model(images)
            log(loss)
        return told

    before = seconds(job, lambda *given: told.extend(as_it_is(*given)) or told)
    between, after = seconds(job, without_training_but_logged), seconds(job, without_training)
    return [
        {"change": "first", "before_s": before, "after_s": between},
        {"change": "second", "before_s": between, "after_s": after},
    ]


def seconds(job, loop):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    job.run(loop)
    torch.cuda.synchronize()
    return time.perf_counter() - begin
