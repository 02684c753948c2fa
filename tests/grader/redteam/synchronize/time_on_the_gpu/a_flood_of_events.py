"""The GPU is waited for a hundred thousand times: each is noted, and somebody has to read that."""

import torch


def time_on_the_gpu(work):
    work()
    for _ in range(100_000):
        torch.cuda.synchronize()
    return 0.1
