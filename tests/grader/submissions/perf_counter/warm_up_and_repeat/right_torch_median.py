import time

import torch


def time_step(step, repeats: int = 10):
    marks = [time.perf_counter()]
    for _ in range(repeats + 1):
        step()
        marks.append(time.perf_counter())
    times = torch.tensor(marks, dtype=torch.float64).diff()
    later = times[1:]
    return {
        "first_s": times[0].item(),
        "median_s": later.median().item(),
        "spread_s": (later.max() - later.min()).item(),
    }
