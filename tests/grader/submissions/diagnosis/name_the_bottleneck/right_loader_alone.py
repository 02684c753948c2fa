import time

import torch


def name_the_bottleneck(train):
    batches = list(train.batches())  # the loader alone: nothing is on the GPU meanwhile
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in train.batches():
        pass
    torch.cuda.synchronize()
    reading = time.perf_counter() - begin

    begin = time.perf_counter()
    for images, labels in batches:
        train.step(images, labels)
    torch.cuda.synchronize()
    computing = time.perf_counter() - begin
    return "input" if reading > computing else "compute"
