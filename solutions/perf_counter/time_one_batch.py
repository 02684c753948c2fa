# %% [markdown]
# # Time one batch
#
# `loop` has the three parts of a training loop:
#
# * `loop.load()` reads a batch and returns it;
# * `loop.train(batch)` trains on it and returns the loss, a number. It
#   returns when the GPU has finished;
# * `loop.log(loss)` sends the loss to where your team keeps its losses.
#
# Complete `time_one_batch`. It goes through all three parts once and
# returns the seconds that **training** on the batch takes, without the
# other two.
#
# Use `time.perf_counter()`.

# %%
import time


# %%
def time_one_batch(loop) -> float:
    batch = loop.load()
    begin = time.perf_counter()
    loss = loop.train(batch)
    seconds = time.perf_counter() - begin
    loop.log(loss)
    return seconds


# %%
if __name__ == "__main__":
    from lab.workloads import build

    # Three times the layers should take about three times as long.
    for layers in (4, 12):
        loop = build("parts_of_a_loop", seed=1, layers=layers)
        print(f"{layers:2} layers: {time_one_batch(loop) * 1000:6.1f} ms")
