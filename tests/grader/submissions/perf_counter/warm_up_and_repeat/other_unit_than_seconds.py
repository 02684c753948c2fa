import time
from statistics import median


def time_step(step):
    times = []
    for _i in range(8):
        t = time.perf_counter()
        step()
        times.append((time.perf_counter() - t) * 1000)
    rest = times[1:]
    return {"first_s": times[0], "median_s": median(rest), "spread_s": max(rest) - min(rest)}
