# %% [markdown]
# # The hottest operator
#
# `prof` is a finished `torch.profiler.profile` of one forward pass.
#
# Complete `hottest_operator`. It returns the name of the operator (like
# `"aten::add"`) that spent the most GPU time itself, in all its calls
# together and without the operators that it calls.

# %%
from torch.profiler import profile


# %%
def hottest_operator(prof: profile) -> str:
    rows = prof.key_averages()
    return max(rows, key=lambda row: row.device_time_total).key


# %%
if __name__ == "__main__":
    from lab.workloads import build

    prof = build("profiled_model", seed=1)
    rows = [row for row in prof.key_averages() if row.device_time_total > 0]
    print(f"{'':36} {'calls':>5} {'Self CUDA':>12} {'CUDA total':>12}")
    for row in sorted(rows, key=lambda row: -row.device_time_total):
        name = f"{row.key[:36]:36} {row.count:5}"
        self_ms = row.self_device_time_total / 1000
        print(f"{name} {self_ms:9.1f} ms {row.device_time_total / 1000:9.1f} ms")
    print("Hottest operator:", hottest_operator(prof))
