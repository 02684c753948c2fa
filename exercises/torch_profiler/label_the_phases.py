# %% [markdown]
# # Label the phases
#
# `train_step` trains on one batch. In its profile you can't see which part
# of it an operator belongs to.
#
# Label its four phases with `record_function`, each once per step:
#
# * "data": both copies to the GPU
# * "forward": the model and the loss
# * "backward": `zero_grad` and `backward`
# * "optimizer": clipping the gradients and `step`
#
# It has to train as before: leave the order of its lines as it is.

# %%
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function


# %%
def train_step(model, optimizer, images, labels, number: int) -> None:
    images, labels = images.to("cuda"), labels.to("cuda")

    with record_function("forward"):
        scores = model(images)
    loss = nn.functional.cross_entropy(scores, labels)

    optimizer.zero_grad()
    loss.backward()

    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

    if number % 100 == 0:
        print(f"step {number}: loss {loss.item():.3f}")


# %%
# Nothing to change from here on: it records three warm steps.
def profile_steps(training) -> profile:
    model, optimizer = training.model, training.optimizer
    first, *others = training.batches
    train_step(model, optimizer, *first, number=1)
    torch.cuda.synchronize()
    both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=both) as prof:
        for number, batch in enumerate(others, 2):
            train_step(model, optimizer, *batch, number=number)
        torch.cuda.synchronize()
    return prof


# %%
if __name__ == "__main__":
    from lab.workloads import build

    prof = profile_steps(build("labelled_step", seed=1))
    for row in prof.key_averages():
        # A label's second row, its span on the GPU, has no CPU time.
        if row.is_user_annotation and row.cpu_time_total > 0:
            gpu_ms = row.device_time_total / 1000
            print(f"{row.key[:34]:34} {row.count} calls {gpu_ms:6.2f} ms")
