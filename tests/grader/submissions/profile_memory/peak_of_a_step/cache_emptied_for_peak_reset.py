import torch


def peak_of_a_step(step):
    torch.cuda.empty_cache()
    step()
    return torch.cuda.max_memory_allocated()
