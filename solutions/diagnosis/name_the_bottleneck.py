# %% [markdown]
# # Name the bottleneck
#
# `train()` runs a short training loop. In some loops the GPU mostly waits
# for the next batch, in others it is busy nearly all the time. You can also
# go through the loop yourself:
#
# ```python
# for images, labels in train.batches():  # reads a batch, copies it to the GPU
#     train.step(images, labels)  # launches a step, doesn't wait for the GPU
# ```
#
# Complete `name_the_bottleneck`. It measures or profiles the loop and
# returns `"input"` if reading a batch takes longer than the GPU's work on
# it, and `"compute"` if not.

# %%
import time

import torch


# %%
def name_the_bottleneck(train) -> str:
    input_s = compute_s = 0.0
    begin = time.perf_counter()
    for images, labels in train.batches():
        loaded = time.perf_counter()
        train.step(images, labels)
        torch.cuda.synchronize()  # or the next batch would wait for it
        end = time.perf_counter()
        input_s += loaded - begin
        compute_s += end - loaded
        begin = end
    return "input" if input_s > compute_s else "compute"


# %%
if __name__ == "__main__":
    from lab.workloads import build

    for storage, slow_reads in (("slow", True), ("quick", False)):
        train = build("training_loop", seed=1, slow_reads=slow_reads)
        print(f"{storage} storage: {name_the_bottleneck(train)}")
