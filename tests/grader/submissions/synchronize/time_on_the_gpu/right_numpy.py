import time

import numpy as np
import torch


def time_on_the_gpu(work):
    seconds = []
    for _ in range(3):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return np.median(seconds)
