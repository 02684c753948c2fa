import time


def split_the_loop(loop):
    loading = computing = 0.0
    start = time.perf_counter()
    for batch in loop.batches:
        t0 = time.perf_counter()
        images, labels = (part.to("cuda") for part in batch)
        t1 = time.perf_counter()
        loop.train((images, labels))
        t2 = time.perf_counter()
        loading += t1 - t0
        computing += t2 - t1
    return {"loading_s": loading, "computing_s": computing, "total_s": time.perf_counter() - start}
