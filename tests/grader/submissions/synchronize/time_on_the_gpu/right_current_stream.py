import time

import torch


def time_on_the_gpu(work):
    stream = torch.cuda.current_stream()
    stream.synchronize()
    begin = time.perf_counter_ns()
    work()
    stream.synchronize()
    return (time.perf_counter_ns() - begin) * 1e-9
