"""A loop that never ends."""


def time_on_the_gpu(work):
    while True:
        pass
