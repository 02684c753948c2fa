import time

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile


def name_the_bottleneck(train):
    train()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        begin = time.perf_counter()
        train()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begin
    kernels = [row for row in prof.key_averages() if row.device_type == DeviceType.CUDA]
    busy = sum(row.self_device_time_total for row in kernels) / 1e6
    return "compute" if busy > seconds / 2 else "input"
