"""The trace is a pipe that nobody writes to: whoever opens it waits for ever."""

import os


def trace_three_steps(train, folder):
    os.makedirs(folder)
    os.mkfifo(f"{folder}/trace.json")
