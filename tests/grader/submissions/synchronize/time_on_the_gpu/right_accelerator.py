from time import perf_counter

from torch.accelerator import synchronize


def time_on_the_gpu(work):
    synchronize()
    begin = perf_counter()
    work()
    synchronize()
    return perf_counter() - begin
