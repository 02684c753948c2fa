"""Text without end."""


def time_on_the_gpu(work):
    while True:
        print("x" * 100_000)
