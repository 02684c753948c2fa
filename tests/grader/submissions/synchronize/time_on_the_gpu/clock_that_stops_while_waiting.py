import time

import torch


def time_on_the_gpu(work):
    torch.cuda.synchronize()
    t = time.process_time()
    work()
    torch.cuda.synchronize()
    return time.process_time() - t
