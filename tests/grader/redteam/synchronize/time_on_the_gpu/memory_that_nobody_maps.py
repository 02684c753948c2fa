"""Files in memory that have no name and lie in nobody's address space."""

import os


def time_on_the_gpu(work):
    files, taken = [], 0
    while taken < 20:
        try:
            files.append(os.memfd_create("taken"))
            taken += 1
            os.ftruncate(files[-1], 400_000_000)
        except OSError as error:
            raise RuntimeError(f"refused after {taken}") from error
    raise RuntimeError("RED TEAM TOOK 20 files in memory")
