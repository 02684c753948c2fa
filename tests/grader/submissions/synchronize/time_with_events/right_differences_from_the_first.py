import torch


def time_the_parts(parts):
    start = torch.cuda.Event(enable_timing=True)
    start.record()
    ends = []
    for p in parts:
        p()
        e = torch.cuda.Event(enable_timing=True)
        e.record()
        ends.append(e)
    torch.cuda.synchronize()
    total = [start.elapsed_time(e) / 1000 for e in ends]
    return [total[0]] + [total[i] - total[i - 1] for i in range(1, len(total))]
