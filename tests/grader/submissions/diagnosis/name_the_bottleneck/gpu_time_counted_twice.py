import time

import torch
from torch.profiler import ProfilerActivity, profile


def name_the_bottleneck(train):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        train()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begin
    busy = sum(row.self_device_time_total for row in prof.key_averages()) / 1e6
    return "compute" if busy > seconds / 2 else "input"
