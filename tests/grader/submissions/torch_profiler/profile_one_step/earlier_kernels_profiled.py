import torch
from torch.profiler import ProfilerActivity, profile


def profile_one_step(step):
    for _ in range(3):
        step()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        step()
        torch.cuda.synchronize()
    return prof
