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
import statistics
import time


# %%
def timed(step) -> float:
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


def time_step(step) -> dict[str, float]:
    first_s = timed(step)
    later_s = [timed(step) for _ in range(7)]
    return {
        "first_s": first_s,
        "median_s": statistics.median(later_s),
        "spread_s": max(later_s) - min(later_s),
    }


# %%
if __name__ == "__main__":
    from lab.workloads import build

    for name, seconds in time_step(build("training_step", seed=1)).items():
        print(f"{name:9} {seconds * 1000:7.1f} ms")
