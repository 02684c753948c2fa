import time
from statistics import median


def time_step(step):
    times = []
    for _i in range(6):
        t = time.perf_counter()
        step()
        times.append(time.perf_counter() - t)
    rest = times[1:]
    return {
        k: round(v, 4)
        for k, v in {"first_s": times[0], "median_s": median(rest), "spread_s": max(rest) - min(rest)}.items()
    }
