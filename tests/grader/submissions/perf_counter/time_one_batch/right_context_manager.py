import time
from contextlib import contextmanager


@contextmanager
def stopwatch(times):
    begin = time.perf_counter()
    yield
    times.append(time.perf_counter() - begin)


def time_one_batch(loop):
    times = []
    batch = loop.load()
    with stopwatch(times):
        loss = loop.train(batch)
    loop.log(loss)
    (seconds,) = times
    return seconds
