import time

import torch


def time_on_the_gpu(work):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
