"""The recursion limit is lifted, and then tried."""

import sys

sys.setrecursionlimit(10**9)


def time_on_the_gpu(work):
    return time_on_the_gpu(work)
