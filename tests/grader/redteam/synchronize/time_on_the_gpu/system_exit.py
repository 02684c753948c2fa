"""A program that ends in order, as if all were well."""

import sys


def time_on_the_gpu(work):
    work()
    sys.exit(0)
