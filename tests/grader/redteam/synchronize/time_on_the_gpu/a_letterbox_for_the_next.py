"""What was found out is left where the next student's process finds it: sockets, shared memory, files, names."""

import multiprocessing.shared_memory as shared
import os
import socket

NAME = "red_team_letterbox"


def time_on_the_gpu(work):
    work()
    for address in (f"\0{NAME}", f"/dev/shm/{NAME}.socket", f"/tmp/{NAME}"):
        there = socket.socket(socket.AF_UNIX)
        try:
            there.connect(address)
            raise RuntimeError(f"RED TEAM FOUND {address}")
        except OSError:
            pass
        try:
            there.bind(address)
            there.listen()
        except OSError:
            pass
    if os.path.exists(f"/dev/shm/{NAME}") or os.path.exists(f"/dev/shm/folder_{NAME}"):
        raise RuntimeError("RED TEAM FOUND shared memory")
    os.mkdir(f"/dev/shm/folder_{NAME}")
    left = shared.SharedMemory(NAME, create=True, size=1000)
    left.buf[:4] = b"0.05"
    os._exit(0)
