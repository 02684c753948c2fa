import torch
from torch.profiler import ProfilerActivity, profile


def profile_one_step(step):
    both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    for _ in range(2):  # the first profile is thrown away
        with profile(activities=both) as prof:
            step()
            torch.cuda.synchronize()
    return prof
