import torch


def timed(part):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    part()
    end.record()
    return start, end


def time_the_parts(parts):
    pairs = [timed(part) for part in parts]
    torch.cuda.synchronize()
    return [start.elapsed_time(end) / 1e3 for start, end in pairs]
