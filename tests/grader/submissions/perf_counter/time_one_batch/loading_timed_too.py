import time


def time_one_batch(loop):
    begin = time.perf_counter()
    batch = loop.load()
    loss = loop.train(batch)
    end = time.perf_counter()
    loop.log(loss)
    return end - begin
