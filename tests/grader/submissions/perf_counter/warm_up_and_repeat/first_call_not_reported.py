import statistics
import time


def time_step(step):
    step()  # warm up
    times = []
    for _ in range(8):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    later = times[1:]
    return {"first_s": times[0], "median_s": statistics.median(later), "spread_s": max(later) - min(later)}
