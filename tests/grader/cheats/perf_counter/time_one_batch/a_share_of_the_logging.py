def time_one_batch(loop):
    loop.log(loop.train(loop.load()))
    return loop._log_s / 2
