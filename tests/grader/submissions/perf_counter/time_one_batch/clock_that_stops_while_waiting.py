import time


def time_one_batch(loop):
    batch = loop.load()
    begin = time.process_time()
    loss = loop.train(batch)
    seconds = time.process_time() - begin
    loop.log(loss)
    return seconds
