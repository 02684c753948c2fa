import statistics

import torch


def one(step):
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    a.record()
    step()
    b.record()
    torch.cuda.synchronize()
    return a.elapsed_time(b) / 1000


def time_step(step):
    first = one(step)
    rest = [one(step) for _ in range(9)]
    return {"first_s": first, "median_s": statistics.median(rest), "spread_s": max(rest) - min(rest)}
