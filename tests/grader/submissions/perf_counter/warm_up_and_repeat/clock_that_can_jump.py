import statistics
from time import time


def time_step(step):
    times = []
    for _ in range(8):
        begin = time()
        step()
        times.append(time() - begin)
    first, *later = times
    return {"first_s": first, "median_s": statistics.median(later), "spread_s": max(later) - min(later)}
