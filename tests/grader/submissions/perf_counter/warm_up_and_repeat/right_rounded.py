import time
from statistics import median


def time_step(step):
    times = []
    for _i in range(6):
        t = time.perf_counter()
        step()
        times.append(round(time.perf_counter() - t, 3))
    return {"first_s": times[0], "median_s": median(times[1:]), "spread_s": max(times[1:]) - min(times[1:])}
