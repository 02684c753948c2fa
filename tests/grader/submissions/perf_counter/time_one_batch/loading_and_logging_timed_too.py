import time


def time_one_batch(loop):
    begin = time.perf_counter()
    loss = loop.train(loop.load())
    loop.log(loss)
    end = time.perf_counter()
    return end - begin
