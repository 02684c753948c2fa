# %% [markdown]
# # Speed up the step
#
# Nothing but its products limits this loop: the batches are on the GPU
# already, and it is busy all the time.
#
# Complete `train`. It trains on every batch as now and returns the losses,
# in order, **at least 1.5 times as fast**. Weights stay in `float32`, and no
# loss may differ by more than 1 % of what the losses fall by altogether.
# The losses are small, and so are their gradients.

# %%
import torch


# %%
def train(model, loss_of, optimizer, batches) -> list:
    losses = []
    for inputs, targets in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):  # its range is float32's: no scaler
            loss = loss_of(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


# %%
if __name__ == "__main__":
    import time

    from lab.workloads import build, expect

    plain = expect("compute_bound", seed=1)
    job = [build("compute_bound", seed=1, part=part) for part in ("model", "loss_of", "optimizer", "batches")]
    begin = time.perf_counter()
    losses = train(*job)
    torch.cuda.synchronize()
    print(f"{plain['loop_s'] / (time.perf_counter() - begin):.1f} times as fast")
    for loss, expected in zip(losses, plain["losses"], strict=True):
        print(f"{float(loss):.4e}, in float32 {expected:.4e}")
