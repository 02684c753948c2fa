import time


class Timed:
    def __init__(self, loader):
        self.loader, self.seconds = loader, 0.0

    def __iter__(self):
        batches = iter(self.loader)
        while True:
            begin = time.perf_counter()
            try:
                batch = next(batches)
            except StopIteration:
                return
            finally:
                self.seconds += time.perf_counter() - begin
            yield batch


def split_the_loop(loop):
    loader = Timed(loop.batches)
    computing = 0.0
    start = time.perf_counter()
    for batch in loader:
        begin = time.perf_counter()
        loop.train(batch)
        computing += time.perf_counter() - begin
    total = time.perf_counter() - start
    return {"loading_s": loader.seconds, "computing_s": computing, "total_s": total}
