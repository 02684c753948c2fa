import time

import torch


def name_the_bottleneck(train):
    spans = []
    torch.cuda.synchronize()
    start = time.perf_counter()
    for images, labels in train.batches():
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        train.step(images, labels)
        end.record()
        spans.append((begin, end))
    torch.cuda.synchronize()
    whole = time.perf_counter() - start
    busy = sum(begin.elapsed_time(end) for begin, end in spans) / 1000
    return "input" if busy < 0.6 * whole else "compute"
