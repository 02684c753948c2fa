import statistics
import timeit


def time_step(step):
    first = timeit.timeit(step, number=1)
    later = timeit.repeat(step, number=1, repeat=10)
    return {"first_s": first, "median_s": statistics.median(later), "spread_s": max(later) - min(later)}
