from time import perf_counter


def split_the_loop(loop):
    loading = computing = 0.0
    start = perf_counter()
    batches = iter(loop.batches)
    while True:
        t0 = perf_counter()
        batch = next(batches, None)
        t1 = perf_counter()
        loading += t1 - t0
        if batch is None:
            break
        loop.train(batch)
        computing += perf_counter() - t1
    return {"loading_s": loading, "computing_s": computing, "total_s": perf_counter() - start}
