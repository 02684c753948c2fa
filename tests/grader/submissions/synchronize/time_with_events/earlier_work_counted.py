from time import perf_counter

import torch


def time_the_parts(parts):
    begin = perf_counter()
    stream = torch.cuda.current_stream()
    ends = []
    for part in parts:
        part()
        ends.append(stream.record_event(torch.cuda.Event(blocking=True)))
    seconds = []
    for end in ends:
        end.synchronize()
        now = perf_counter()
        seconds.append(now - begin)
        begin = now
    return seconds
