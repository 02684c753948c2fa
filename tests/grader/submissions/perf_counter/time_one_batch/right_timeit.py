import timeit


def time_one_batch(loop):
    batch = loop.load()
    seconds = timeit.timeit(lambda: loop.train(batch), number=3) / 3
    loop.log(loop.train(batch))
    return seconds
