# %% [markdown]
# # Split the loop
#
# `loop.batches` hands out the batches of an epoch, one after another, and
# the loop waits for each. `loop.train(batch)` trains on one. It returns
# when the GPU has finished.
#
# Complete `split_the_loop`. It trains on all batches and returns a
# dictionary of seconds, each for the whole loop:
#
# * `"loading_s"`: waiting for batches, the first one included;
# * `"computing_s"`: training;
# * `"total_s"`: from before the first batch to after the last training.
#
# Loading and computing together must make up the total.

# %%
import time


# %%
def split_the_loop(loop) -> dict[str, float]:
    loading_s = computing_s = 0.0
    mark = start = time.perf_counter()
    for batch in loop.batches:
        loaded = time.perf_counter()  # the for line has waited for the batch
        loop.train(batch)
        trained = time.perf_counter()
        loading_s += loaded - mark
        computing_s += trained - loaded
        mark = trained
    total_s = mark - start
    return {"loading_s": loading_s, "computing_s": computing_s, "total_s": total_s}


# %%
if __name__ == "__main__":
    from lab.workloads import build

    parts = split_the_loop(build("parts_of_a_loop", seed=1))
    for name, seconds in parts.items():
        print(f"{name:12} {seconds * 1000:7.1f} ms")
    missing_s = parts["total_s"] - parts["loading_s"] - parts["computing_s"]
    print(f"in no part   {missing_s * 1000:7.1f} ms")
