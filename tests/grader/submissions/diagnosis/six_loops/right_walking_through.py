import time
import warnings

import torch
from torch.profiler import ProfilerActivity, profile


def timed(function):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    function()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def bottleneck(train):
    whole = timed(train)
    batches = []
    if timed(lambda: batches.extend(train.batches())) > 0.5 * whole:
        return "input"
    if timed(lambda: [images.to("cuda") for images, _ in batches]) > 0.4 * whole:
        return "copies"
    # A debug mode warns of each hidden synchronisation.
    torch.cuda.set_sync_debug_mode("warn")
    with warnings.catch_warnings(record=True) as waits:
        warnings.simplefilter("always")
        for images, labels in batches:
            train.step(images, labels)
    torch.cuda.set_sync_debug_mode("default")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        for images, labels in batches:
            train.step(images, labels)
        torch.cuda.synchronize()
    operators = [row for row in prof.key_averages() if row.key.startswith("aten::")]
    gpu = sum(row.self_device_time_total for row in operators) / 1e6
    if gpu < 0.7 * whole:
        return "sync" if len(waits) > 2 * len(batches) else "launch"
    hottest = max(operators, key=lambda row: row.self_device_time_total)
    return "compute" if "mm" in hottest.key else "memory"
