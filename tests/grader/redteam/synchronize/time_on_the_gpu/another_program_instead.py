"""The process becomes a program that always succeeds."""

import os


def time_on_the_gpu(work):
    work()
    os.execvp("true", ["true"])
