import torch


def time_the_parts(parts):
    pairs = []
    for part in parts:
        a, b = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        a.record()
        part()
        b.record()
        pairs.append((a, b))
    torch.cuda.synchronize()
    return [b.elapsed_time(a) / 1000 for a, b in pairs]
