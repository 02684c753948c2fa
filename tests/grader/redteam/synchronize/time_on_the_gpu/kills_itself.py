"""The kernel ends the process."""

import os
import signal


def time_on_the_gpu(work):
    work()
    os.kill(os.getpid(), signal.SIGKILL)
