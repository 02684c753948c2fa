import time

import numpy as np


def time_step(step):
    def timed():
        begin = time.monotonic()
        step()
        return time.monotonic() - begin

    first = timed()
    for _ in range(3):
        step()
    later = [timed() for _ in range(6)]
    return {"first_s": first, "median_s": float(np.median(later)), "spread_s": float(np.ptp(later))}
