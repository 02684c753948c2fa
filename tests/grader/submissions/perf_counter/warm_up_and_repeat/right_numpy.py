import time

import numpy as np


def time_step(step):
    readings = [time.perf_counter()]
    for _ in range(9):
        step()
        readings.append(time.perf_counter())
    first, *later = np.diff(readings)
    return {"first_s": first, "median_s": np.median(later), "spread_s": np.ptp(later)}
