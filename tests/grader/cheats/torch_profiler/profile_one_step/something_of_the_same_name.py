import torch
from torch.profiler import profile, record_function


def profile_one_step(step):
    x = torch.randn(256, 256, device="cuda")
    step()
    torch.cuda.synchronize()
    with profile() as prof, record_function("train_step"):
        x @ x
    return prof
