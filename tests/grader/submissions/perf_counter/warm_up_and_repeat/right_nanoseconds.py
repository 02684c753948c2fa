from statistics import median
from time import perf_counter_ns


def time_step(step):
    times = []
    for _ in range(6):
        begin = perf_counter_ns()
        step()
        times.append((perf_counter_ns() - begin) / 1e9)
    first, *later = times
    return {"first_s": first, "median_s": median(later), "spread_s": max(later) - min(later)}
