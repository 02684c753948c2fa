import torch
from torch.profiler import ProfilerActivity, profile


def name_the_bottleneck(train):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        train()
        torch.cuda.synchronize()
    rows = prof.key_averages()
    reading = sum(row.cpu_time_total for row in rows if row.key.startswith("enumerate(DataLoader)"))
    computing = sum(row.self_device_time_total for row in rows if row.key.startswith("aten::"))
    return "input" if reading > computing else "compute"
