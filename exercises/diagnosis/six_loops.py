# %% [markdown]
# # Six loops, six bottlenecks
#
# `train()` runs a short training loop. You can also walk through it:
#
# ```python
# for images, labels in train.batches():  # what the loader reads, on the CPU
#     train.step(images, labels)  # copies it to the GPU and trains on it
# ```
#
# Six loops will come, each limited by something else. Complete
# `bottleneck`. It measures the loop and returns one of six words:
#
# * `"input"`: the GPU waits for the loader
# * `"copies"`: it waits for copies from the CPU
# * `"sync"`: it waits after the host has read values from it, again and again
# * `"launch"`: it waits for launches of tiny kernels
# * `"compute"`: it is busy, most of the time with matrix products
# * `"memory"`: it is busy, most of the time moving values through its memory

# %%
import time

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile


# %%
def bottleneck(train) -> str:
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        begin = time.perf_counter()
        train()
        torch.cuda.synchronize()
        loop_us = (time.perf_counter() - begin) * 1e6
    rows = prof.key_averages()
    # Kernels and copies, without the span of a label, such as the optimizer's own, over some of them.
    on_gpu = [row for row in rows if row.device_type == DeviceType.CUDA and not row.is_user_annotation]
    busy_us = sum(row.self_device_time_total for row in on_gpu if "Memcpy" not in row.key)
    return "compute" if busy_us > loop_us / 2 else "input"


# %%
if __name__ == "__main__":
    from lab.workloads import build, expect

    for loop in expect("six_loops", seed=1):
        print(f"{loop['kind']:8} {bottleneck(build('six_loops', seed=loop['seed']))}")
