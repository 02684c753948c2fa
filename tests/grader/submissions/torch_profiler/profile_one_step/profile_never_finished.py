import torch
from torch.profiler import profile


def profile_one_step(step):
    step()
    torch.cuda.synchronize()
    prof = profile()
    prof.start()
    step()
    torch.cuda.synchronize()
    print(prof.key_averages())
    return prof
