import statistics
import time


def time_step(step):
    times = []
    for _ in range(8):
        begin = time.process_time()
        step()
        times.append(time.process_time() - begin)
    first, *later = times
    return {"first_s": first, "median_s": statistics.median(later), "spread_s": max(later) - min(later)}
