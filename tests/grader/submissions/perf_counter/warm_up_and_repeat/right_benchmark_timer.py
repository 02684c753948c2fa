import time

import numpy as np
from torch.utils.benchmark import Timer


def time_step(step):
    begin = time.perf_counter()
    step()
    first = time.perf_counter() - begin
    timer = Timer("step()", globals={"step": step})
    later = [timer.timeit(1).median for _ in range(7)]  # each has two warm-up calls of its own
    return {"first_s": first, "median_s": float(np.median(later)), "spread_s": max(later) - min(later)}
