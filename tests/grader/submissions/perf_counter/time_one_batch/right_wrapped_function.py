import functools
import time

import numpy as np


def timed(function):
    @functools.wraps(function)
    def wrapper(*args):
        begin = time.monotonic()
        result = function(*args)
        return result, np.float64(time.monotonic() - begin)

    return wrapper


def time_one_batch(loop):
    loss, seconds = timed(loop.train)(loop.load())
    loop.log(loss)
    return seconds
