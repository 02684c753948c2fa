import time


def time_step(step):
    times = []
    for _ in range(9):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    first, *later = times
    return {"first_s": first, "median_s": sum(later) / len(later), "spread_s": max(later) - min(later)}
