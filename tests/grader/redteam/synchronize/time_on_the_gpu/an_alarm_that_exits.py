"""A signal ends the process with 0."""

import os
import signal


def time_on_the_gpu(work):
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    while True:
        work()
