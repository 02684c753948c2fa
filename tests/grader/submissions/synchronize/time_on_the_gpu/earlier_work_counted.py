import time

import torch


def time_on_the_gpu(work):
    begin = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - begin
