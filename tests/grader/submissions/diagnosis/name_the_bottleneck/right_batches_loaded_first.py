import time

import torch


def name_the_bottleneck(train):
    batches = list(train.batches())
    torch.accelerator.synchronize()
    t = time.perf_counter()
    for images, labels in batches:
        train.step(images, labels)
    torch.accelerator.synchronize()
    compute = time.perf_counter() - t
    t = time.perf_counter()
    list(train.batches())
    torch.accelerator.synchronize()
    load = time.perf_counter() - t
    print(load, compute)
    if load > compute:
        return "input"
    return "compute"
