"""The trace is a link to a file of somebody else, a pipe, and a device."""

import os


def trace_three_steps(train, folder):
    os.makedirs(folder)
    os.symlink("/etc/passwd", f"{folder}/passwd.json")
    os.symlink("/dev/zero", f"{folder}/zero.json")
    os.symlink("/dev/random", f"{folder}/random.json.gz")
