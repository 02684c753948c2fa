import time


def time_one_batch(loop):
    batch = loop.load()
    begin = time.perf_counter()
    loop.log(loop.train(batch))
    return time.perf_counter() - begin
