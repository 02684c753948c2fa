import time

import torch


def total(work, n):
    torch.cuda.synchronize()
    t = time.perf_counter()
    for _ in range(n):
        work()
    torch.cuda.synchronize()
    return time.perf_counter() - t


def time_on_the_gpu(work) -> float:
    return total(work, 3) - total(work, 2)
