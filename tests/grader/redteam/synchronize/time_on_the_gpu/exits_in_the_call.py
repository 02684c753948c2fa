"""The process ends with 0 in the middle of the call."""

import os


def time_on_the_gpu(work):
    work()
    os._exit(0)
