# %% [markdown]
# # Profile one step
#
# `step()` trains for one step and doesn't wait for the GPU. Its first call
# does once-only work.
#
# Complete `profile_one_step`. It returns a finished
# `torch.profiler.profile` that recorded
#
# * the CPU and the GPU (CUDA),
# * exactly one call of `step()`, a warm one,
# * and nothing that the GPU was still doing for an earlier call.

# %%
import torch
from torch.profiler import ProfilerActivity, profile


# %%
def profile_one_step(step) -> profile:
    for _ in range(2):
        step()
    torch.cuda.synchronize()
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities) as prof:
        step()
        torch.cuda.synchronize()
    return prof


# %%
if __name__ == "__main__":
    from lab.workloads import build

    step = build("training_step", seed=1, reads_loss=False, varies=False)
    rows = profile_one_step(step).key_averages()
    print(f"{'':44} {'calls':>5} {'Self CUDA':>12}")
    for row in sorted(rows, key=lambda row: -row.self_device_time_total)[:12]:
        self_ms = row.self_device_time_total / 1000
        print(f"{row.key[:44]:44} {row.count:5} {self_ms:9.1f} ms")
