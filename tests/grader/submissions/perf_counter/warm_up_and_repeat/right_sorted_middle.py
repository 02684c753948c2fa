import time


def time_step(step):
    def one():
        t = time.perf_counter()
        step()
        return time.perf_counter() - t

    first = one()
    rest = sorted(one() for _ in range(8))
    return {"first_s": first, "median_s": rest[len(rest) // 2], "spread_s": rest[-1] - rest[0]}
