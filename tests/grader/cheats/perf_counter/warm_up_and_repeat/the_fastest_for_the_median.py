import time


def time_step(step):
    times = []
    for _ in range(10):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    later = times[1:]
    return {"first_s": times[0], "median_s": min(later), "spread_s": max(later) - min(later)}
