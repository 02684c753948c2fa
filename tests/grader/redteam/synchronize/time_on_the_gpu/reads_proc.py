"""What the kernel tells of other processes: their environments, files and memory."""

import os


def time_on_the_gpu(work):
    work()
    told = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for name in ("environ", "maps", "mem", "root", "cwd", "stack"):
            try:
                if name in ("root", "cwd"):
                    told.append((pid, name, os.listdir(f"/proc/{pid}/{name}")))
                else:
                    with open(f"/proc/{pid}/{name}", "rb") as file:
                        told.append((pid, name, file.read(100)))
            except OSError:
                pass
    if told:
        raise RuntimeError(f"RED TEAM READ: {told}")
    return 0.1
