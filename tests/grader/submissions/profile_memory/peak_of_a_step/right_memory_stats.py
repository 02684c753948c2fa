import torch


def peak_of_a_step(step):
    torch.cuda.reset_peak_memory_stats()
    step()
    return torch.cuda.memory_stats()["allocated_bytes.all.peak"]
