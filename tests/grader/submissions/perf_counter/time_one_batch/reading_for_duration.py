from time import perf_counter


def time_one_batch(loop):
    batch = loop.load()
    perf_counter()  # start
    loss = loop.train(batch)
    seconds = perf_counter()  # stop
    loop.log(loss)
    return seconds
