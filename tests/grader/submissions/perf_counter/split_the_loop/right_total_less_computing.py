import time


def split_the_loop(loop):
    computing = 0.0
    start = time.perf_counter()
    for batch in loop.batches:
        begin = time.perf_counter()
        loop.train(batch)
        computing += time.perf_counter() - begin
    total = time.perf_counter() - start
    return {"loading_s": total - computing, "computing_s": computing, "total_s": total}
