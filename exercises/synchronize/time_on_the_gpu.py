# %% [markdown]
# # Time on the GPU
#
# `work()` puts a chain of matrix products on the GPU and returns at once.
# When your function is called, the GPU is still busy with something else.
#
# Complete `time_on_the_gpu`. It returns the seconds (a float) that the GPU
# needs for one call of `work()`.

# %%
import time


# %%
def time_on_the_gpu(work) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


# %%
if __name__ == "__main__":
    from lab.workloads import build

    # Twice as many products should take about twice as long.
    for length in (30, 60):
        work = build("queued_matmuls", seed=1, length=length)
        print(f"{length} products: {time_on_the_gpu(work) * 1000:7.2f} ms")
