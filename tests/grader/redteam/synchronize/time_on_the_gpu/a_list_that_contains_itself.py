"""A value without an end."""


def time_on_the_gpu(work):
    work()
    found = [0.1]
    found.append(found)
    return found
