from collections import Counter


def hottest_operator(prof):
    us = Counter()
    for event in prof.events():
        for kernel in event.kernels:
            us[event.name] += kernel.duration
    return us.most_common(1)[0][0]
