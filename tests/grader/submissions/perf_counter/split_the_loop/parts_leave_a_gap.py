import time
from statistics import mean


def split_the_loop(loop):
    loading, computing = [], []
    start = mark = time.perf_counter()
    for batch in loop.batches:
        loaded = time.perf_counter()
        loop.train(batch)
        trained = time.perf_counter()
        loading.append(loaded - mark)
        computing.append(trained - loaded)
        mark = trained
    return {"loading_s": mean(loading), "computing_s": mean(computing), "total_s": mark - start}
