from time import perf_counter_ns


def time_one_batch(loop):
    batch = loop.load()
    begin = perf_counter_ns()
    loss = loop.train(batch)
    end = perf_counter_ns()
    loop.log(loss)
    return (end - begin) / 1e9
