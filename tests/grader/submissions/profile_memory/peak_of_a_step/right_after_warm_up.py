import torch


def peak_of_a_step(step):
    step()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats("cuda")
    step()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated("cuda")
