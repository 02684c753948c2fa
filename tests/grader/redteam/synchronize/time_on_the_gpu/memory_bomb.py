"""Memory is taken and used until there is no more."""


def time_on_the_gpu(work):
    taken = []
    while True:
        taken.append(b"x" * 200_000_000)
