import torch


def profile_one_step(step):
    step()
    torch.accelerator.synchronize()
    with torch.profiler.profile(profile_memory=True, with_stack=True) as prof:
        step()
    return prof
