import time


def split_the_loop(loop):
    start = mark = time.perf_counter()
    for batch in loop.batches:
        loaded = time.perf_counter()
        loading = loaded - mark
        loop.train(batch)
        mark = time.perf_counter()
        computing = mark - loaded
    return {"loading_s": loading, "computing_s": computing, "total_s": mark - start}
