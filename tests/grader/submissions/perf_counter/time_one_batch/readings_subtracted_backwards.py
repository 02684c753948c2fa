import time


def time_one_batch(loop):
    batch = loop.load()
    start = time.perf_counter()
    loss = loop.train(batch)
    stop = time.perf_counter()
    loop.log(loss)
    return start - stop
