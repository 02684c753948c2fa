import statistics
import time


def time_step(step):
    times = []
    for _ in range(10):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    first, _, third = statistics.quantiles(times[1:], n=4)
    return {"first_s": times[0], "median_s": statistics.median(times[1:]), "spread_s": third - first}
