# %% [markdown]
# # Self or total, CPU or CUDA?
#
# `prof` is a finished `torch.profiler.profile` of a program with three
# labels: "encoder", "decoder" and "head".
#
# Complete `read_the_profile`. It returns
#
# * "gpu_ms": how long the GPU worked, in milliseconds
# * "waiting_ms": how long the CPU only waited for the GPU
# * "cpu_operator": the operator ("aten::...") that kept the CPU busiest
#   with work of its own
# * "gpu_region": the label whose kernels took the GPU longest

# %%
from torch.profiler import profile

REGIONS = ("encoder", "decoder", "head")


# %%
def read_the_profile(prof: profile) -> dict:
    rows = prof.key_averages()
    operators = [row for row in rows if row.key.startswith("aten::")]
    regions = [row for row in rows if row.key in REGIONS]
    waits = [row for row in rows if row.key.endswith("Synchronize")]
    return {
        # A kernel's time stands in its operator's row and in its own.
        "gpu_ms": sum(row.self_device_time_total for row in operators) / 1000,
        "waiting_ms": sum(row.self_cpu_time_total for row in waits) / 1000,
        "cpu_operator": max(operators, key=lambda row: row.self_cpu_time_total).key,
        "gpu_region": max(regions, key=lambda row: row.device_time_total).key,
    }


# %%
if __name__ == "__main__":
    from lab.workloads import build

    prof = build("regions_profile", seed=1)
    print(f"{'ms':26} {'calls':>6}   {'Self CPU':>9} {'CPU':>7}  {'Self CUDA':>10} {'CUDA':>7}")
    for row in sorted(prof.key_averages(), key=lambda row: -row.cpu_time_total):
        cpu = f"{row.self_cpu_time_total / 1000:9.1f} {row.cpu_time_total / 1000:7.1f}"
        gpu = f"{row.self_device_time_total / 1000:10.1f} {row.device_time_total / 1000:7.1f}"
        print(f"{row.key[:26]:26} {row.count:6}   {cpu}  {gpu}")
    for name, value in read_the_profile(prof).items():
        print(f"{name:13} {value}")
