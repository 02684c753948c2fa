import torch


def time_the_parts(parts):
    seconds = []
    for part in parts:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        part()
        end.record()
        seconds.append(start.elapsed_time(end) / 1000)
    torch.cuda.synchronize()
    return seconds
