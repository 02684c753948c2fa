"""An error whose text is longer than any page."""


def time_on_the_gpu(work):
    raise ValueError("x" * 50_000_000)
