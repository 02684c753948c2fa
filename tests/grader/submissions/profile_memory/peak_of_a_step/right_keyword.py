from torch import cuda


def peak_of_a_step(step):
    cuda.reset_peak_memory_stats(device=0)
    step()
    return cuda.max_memory_allocated(device=0)
