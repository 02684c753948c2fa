import time


def split_the_loop(loop):
    loading = computing = 0.0
    start = time.perf_counter()
    end = None
    for batch in loop.batches:
        loaded = time.perf_counter()
        if end is not None:
            loading += loaded - end
        loop.train(batch)
        end = time.perf_counter()
        computing += end - loaded
    return {"loading_s": loading, "computing_s": computing, "total_s": end - start}
