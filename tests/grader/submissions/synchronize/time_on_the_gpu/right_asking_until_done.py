import torch


def time_on_the_gpu(work):
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    start.record()
    work()
    end.record()
    while not end.query():
        pass
    return start.elapsed_time(end) * 1e-3
