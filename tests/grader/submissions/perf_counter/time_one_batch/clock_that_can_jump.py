import time


def time_one_batch(loop):
    batch = loop.load()
    begin = time.time()
    loss = loop.train(batch)
    seconds = time.time() - begin
    loop.log(loss)
    return seconds
