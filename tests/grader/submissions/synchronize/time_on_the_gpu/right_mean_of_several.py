import time

import torch


def time_on_the_gpu(work):
    work()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(4):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / 4
