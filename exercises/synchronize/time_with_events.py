# %% [markdown]
# # Time with events
#
# `parts` is a list of three functions. Each puts work on the GPU and
# returns at once. When your function is called, the GPU is still busy
# with something else.
#
# Complete `time_the_parts`. It calls the parts in order and returns a list
# with the seconds that the GPU needs for each.
#
# The GPU must not run dry: don't wait for it before all three parts are
# queued. So use events, `torch.cuda.Event`.

# %%
import time


# %%
def time_the_parts(parts) -> list[float]:
    seconds = []
    for part in parts:
        begin = time.perf_counter()
        part()
        seconds.append(time.perf_counter() - begin)
    return seconds


# %%
if __name__ == "__main__":
    from lab.workloads import build

    for number, seconds in enumerate(time_the_parts(build("queued_parts", seed=1))):
        print(f"part {number}: {seconds * 1000:7.2f} ms")
