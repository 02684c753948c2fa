import time


def time_one_batch(loop):
    batch = loop.load()
    begin = time.perf_counter()
    for _ in range(5):
        loss = loop.train(batch)
    seconds = time.perf_counter() - begin
    loop.log(loss)
    return seconds
