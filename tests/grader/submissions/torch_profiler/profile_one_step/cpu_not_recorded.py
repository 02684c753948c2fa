import torch
from torch.profiler import ProfilerActivity, profile


def profile_one_step(step):
    step()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        step()
        torch.cuda.synchronize()
    return prof
