import time


def time_one_batch(loop):
    begin = time.perf_counter()
    batch = loop.load()
    seconds = time.perf_counter() - begin
    loss = loop.train(batch)
    loop.log(loss)
    return seconds
