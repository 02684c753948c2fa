import time


def split_the_loop(loop):
    loading = computing = 0.0
    start = mark = time.perf_counter()
    for batch in loop.batches:
        loaded = time.perf_counter()
        loading += loaded - mark
        mark = time.perf_counter()  # from here, the next batch
        loop.train(batch)
        computing += time.perf_counter() - loaded
    return {"loading_s": loading, "computing_s": computing, "total_s": time.perf_counter() - start}
