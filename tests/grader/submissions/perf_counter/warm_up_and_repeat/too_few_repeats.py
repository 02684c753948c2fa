import statistics
import time


def time_step(step):
    def timed():
        begin = time.perf_counter()
        step()
        return time.perf_counter() - begin

    first = timed()
    later = [timed() for _ in range(3)]
    return {"first_s": first, "median_s": statistics.median(later), "spread_s": max(later) - min(later)}
