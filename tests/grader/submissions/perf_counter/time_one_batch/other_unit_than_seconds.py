import time


def time_one_batch(loop):
    batch = loop.load()
    begin = time.perf_counter()
    loss = loop.train(batch)
    milliseconds = (time.perf_counter() - begin) * 1000
    loop.log(loss)
    return milliseconds
