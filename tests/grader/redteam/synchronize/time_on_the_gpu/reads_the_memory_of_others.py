"""The memory of the parents is read and written by system calls."""

import importlib
import os

c = importlib.import_module("c" + "types")


def time_on_the_gpu(work):
    work()
    libc = c.CDLL(None, use_errno=True)
    for pid in (os.getppid(), 1, 2):
        if libc.ptrace(16, pid, 0, 0) == 0:
            raise RuntimeError("RED TEAM READ: ptrace")
        buffer = c.create_string_buffer(8)
        if libc.syscall(310, pid, buffer, 1, buffer, 1, 0) > 0:
            raise RuntimeError("RED TEAM READ: process_vm_readv")
    return 0.1
