"""A value that takes gigabytes as soon as somebody reads it."""


def time_on_the_gpu(work):
    work()
    return [[]] * 20_000_000
