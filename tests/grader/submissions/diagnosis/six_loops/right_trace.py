import json
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, record_function


def bottleneck(train):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof, record_function("whole loop"):
        train()
        torch.cuda.synchronize()
    prof.export_chrome_trace("loop.json")
    trace = json.loads(Path("loop.json").read_text())
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X"]

    def took(chosen):
        return sum(event["dur"] for event in events if chosen(event["name"], event.get("cat", "")))

    whole = took(lambda name, cat: name == "whole loop" and cat == "user_annotation")
    kernels = took(lambda name, cat: cat == "kernel")
    if kernels > 0.75 * whole:
        products = took(lambda name, cat: cat == "kernel" and "gemm" in name)
        return "compute" if products > kernels / 2 else "memory"
    if took(lambda name, cat: name.startswith("enumerate(DataLoader)")) > 0.4 * whole:
        return "input"
    if took(lambda name, cat: cat == "gpu_memcpy" and "HtoD" in name) > 0.4 * whole:
        return "copies"
    waits = sum("cudaStreamSynchronize" in event["name"] for event in events)
    batches = sum(event["name"].startswith("enumerate(DataLoader)") for event in events)
    return "sync" if waits > 2 * batches else "launch"
