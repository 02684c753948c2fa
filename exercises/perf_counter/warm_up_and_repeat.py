# %% [markdown]
# # Warm up and repeat
#
# `step()` trains for one step and ends by reading the loss, so it returns
# when the GPU has finished. Its first call is slow, and now and then a
# later one is too.
#
# Complete `time_step`. It returns a dictionary of seconds:
#
# * `"first_s"`: the very first call of `step()`;
# * `"median_s"`: the median of at least five later calls, each timed by
#   itself;
# * `"spread_s"`: the slowest of those later calls minus the fastest.
#
# Use `time.perf_counter()`.

# %%
import time


# %%
def time_step(step) -> dict[str, float]:
    begin = time.perf_counter()
    step()
    seconds = time.perf_counter() - begin
    return {"first_s": seconds, "median_s": seconds, "spread_s": 0.0}


# %%
if __name__ == "__main__":
    from lab.workloads import build

    for name, seconds in time_step(build("training_step", seed=1)).items():
        print(f"{name:9} {seconds * 1000:7.1f} ms")
