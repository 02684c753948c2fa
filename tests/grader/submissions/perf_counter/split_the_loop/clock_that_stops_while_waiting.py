from time import process_time as now


def split_the_loop(loop):
    loading = computing = 0.0
    start = mark = now()
    for batch in loop.batches:
        loaded = now()
        loop.train(batch)
        loading, mark, trained = loading + loaded - mark, now(), now()
        computing += trained - loaded
    return {"loading_s": loading, "computing_s": computing, "total_s": mark - start}
