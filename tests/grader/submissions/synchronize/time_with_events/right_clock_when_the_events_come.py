from time import perf_counter

import torch


def time_the_parts(parts):
    torch.cuda.synchronize()  # before the parts, it empties nothing that is theirs
    ends = []
    begin = perf_counter()
    for part in parts:
        part()
        ends.append(torch.cuda.current_stream().record_event())
    seconds = []
    for end in ends:  # each wait ends when its part does
        end.synchronize()
        seconds.append(perf_counter() - begin - sum(seconds))
    return seconds
