import time


def split_the_loop(loop):
    loading = computing = 0
    start = mark = time.perf_counter()
    for batch in loop.batches:
        loaded = time.perf_counter()
        loop.train(batch)
        mark2 = time.perf_counter()
        loading += loaded - mark
        computing += mark2 - loaded
        mark = mark2
    return {"loading_s": loading * 1000, "computing_s": computing * 1000, "total_s": (mark - start) * 1000}
