import time

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile


def bottleneck(train):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        begin = time.perf_counter()
        train()
        torch.cuda.synchronize()
        whole = (time.perf_counter() - begin) * 1e6
    rows = prof.key_averages()
    gpu = [row for row in rows if row.device_type == DeviceType.CUDA]
    kernels = [row for row in gpu if "Memcpy" not in row.key]
    busy = sum(row.self_device_time_total for row in kernels) / whole
    copying = sum(row.self_device_time_total for row in gpu if "HtoD" in row.key) / whole
    products = sum(row.self_device_time_total for row in rows if row.key in ("aten::mm", "aten::addmm"))
    loading = sum(row.cpu_time_total for row in rows if "DataLoader" in row.key) / whole
    reads = sum(row.count for row in rows if row.key == "aten::item")
    batches = sum(row.count for row in rows if "DataLoader" in row.key)
    if sum(row.count for row in kernels) > 150 * batches and reads < 8:
        return "compute"
    if busy > 0.7:
        return "compute" if products / whole > busy / 2 else "memory"
    if loading > 0.3:
        return "input"
    return "copies" if copying > 0.3 else "sync"
