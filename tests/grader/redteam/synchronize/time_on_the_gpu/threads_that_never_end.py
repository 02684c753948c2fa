"""Threads that nobody can end go on when the function has returned."""

import threading


def busy():
    while True:
        pass


def time_on_the_gpu(work):
    for _ in range(4):
        threading.Thread(target=busy).start()
    return 0.1
