import torch


def peak_of_a_step(step):
    torch.cuda.reset_peak_memory_stats()
    step()
    torch.cuda.synchronize()
    return torch.cuda.memory_allocated()
