import torch
from torch.profiler import profile


def time_on_the_gpu(work) -> float:
    torch.cuda.synchronize()
    with profile() as prof:
        work()
        torch.cuda.synchronize()
    return sum(e.self_device_time_total for e in prof.key_averages()) / 1e6
