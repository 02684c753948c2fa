import torch


def time_one_batch(loop):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    batch = loop.load()
    start.record()
    loss = loop.train(batch)
    end.record()
    end.synchronize()
    loop.log(loss)
    return start.elapsed_time(end) / 1e3
