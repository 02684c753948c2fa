"""A value nested so deeply that it breaks whoever walks it."""


def time_on_the_gpu(work):
    work()
    found = 0.1
    for _ in range(100_000):
        found = [found]
    return found
