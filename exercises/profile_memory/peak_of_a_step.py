# %% [markdown]
# # The peak of a step
#
# `step()` trains for one step. Before it, something larger was in memory
# and was freed again.
#
# Complete `peak_of_a_step`. It returns the peak of one call of `step()` as
# a whole number of bytes: the most GPU memory that tensors occupy
# (allocated, not reserved) at any moment of the call, weights included.

# %%
import torch


# %%
def peak_of_a_step(step) -> int:
    step()
    return torch.cuda.max_memory_allocated()


# %%
if __name__ == "__main__":
    from lab.workloads import build

    # Twice the activations should need about twice the memory.
    for mib in (10, 20):
        step = build("steps_with_a_peak", seed=1, activations_mib=mib)
        peak_mib = peak_of_a_step(step) / 2**20
        print(f"{mib} MiB of activations: {peak_mib:6.1f} MiB")
