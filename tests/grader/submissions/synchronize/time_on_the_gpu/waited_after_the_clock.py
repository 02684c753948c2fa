import time

import torch


def time_on_the_gpu(work):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    work()
    end = time.perf_counter()
    torch.cuda.synchronize()
    return end - begin
