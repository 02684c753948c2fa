# %% [markdown]
# # Two problems, one at a time
#
# `as_it_is` is a training loop with two problems. Profile it, fix one, then
# the other, and measure before and after each change.
#
# `job.run(loop)` runs a loop from the first weights on and returns its
# losses. A loop is given `model, optimizer, batches, log` and returns one
# loss for each step. `log` writes a value, or a list of values: each call
# waits about 5 ms for a disk. All losses have to be logged.
#
# Complete `changes(job)`. It returns, in the order of your changes:
#
# ```python
# [{"change": "what you did", "before_s": 0.3, "after_s": 0.2}, {...}]
# ```
#
# The second `before_s` is of the loop with the first change. Each number
# comes from a run of its own kind of loop, without a profiler around it.

# %%
import time

import torch
from torch.nn.functional import cross_entropy


# %%
def as_it_is(model, optimizer, batches, log) -> list:
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        parts = zip(images.split(1), labels.split(1), strict=True)
        loss = torch.stack([cross_entropy(model(image), label) for image, label in parts]).mean()
        loss.backward()
        optimizer.step()
        log(loss.item())
        losses.append(loss.item())
    return losses


def first_change(model, optimizer, batches, log) -> list:
    return as_it_is(model, optimizer, batches, log)


def both_changes(model, optimizer, batches, log) -> list:
    return as_it_is(model, optimizer, batches, log)


# %%
def seconds(job, loop) -> float:
    torch.cuda.synchronize()
    begin = time.perf_counter()
    job.run(loop)
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def changes(job) -> list:
    before, between, after = (seconds(job, loop) for loop in (as_it_is, first_change, both_changes))
    return [
        {"change": "first", "before_s": before, "after_s": between},
        {"change": "second", "before_s": between, "after_s": after},
    ]


# %%
if __name__ == "__main__":
    from torch.profiler import ProfilerActivity, profile

    from lab.workloads import build

    job = build("two_problems", seed=1)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        job.run(as_it_is)
    print(f"{'ms':32} {'calls':>6} {'Self CPU':>9} {'CPU total':>10} {'Self CUDA':>10}")
    rows = [row for row in prof.key_averages() if row.key.startswith(("aten::", "cuda"))]
    rows.sort(key=lambda row: -row.self_cpu_time_total)
    for row in rows[:10] + [row for row in rows[10:] if row.key == "aten::item"]:
        cpu = f"{row.self_cpu_time_total / 1000:9.1f} {row.cpu_time_total / 1000:10.1f}"
        print(f"{row.key[:32]:32} {row.count:6} {cpu} {row.self_device_time_total / 1000:10.1f}")
    footer = prof.key_averages().table().splitlines()[-2:]
    print(*footer, sep="\n")
    for change in changes(job):
        print(f"{change['change']}: {change['before_s'] * 1e3:.0f} ms, then {change['after_s'] * 1e3:.0f} ms")
