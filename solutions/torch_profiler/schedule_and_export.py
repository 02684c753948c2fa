# %% [markdown]
# # Trace three steps of a loop
#
# `for batch in train.batches(): train.step(batch)` trains on every batch.
#
# Complete `trace_three_steps`. It trains on all of them, and meanwhile a
# profiler of CPU and GPU with a `schedule`
#
# * is off for steps 1 and 2, warms up in step 3, records steps 4 to 6,
# * and writes one trace (.json or .json.gz) into `folder`.
#
# `folder` is a path, as text. That folder may not exist yet.

# %%
from torch.profiler import (
    ProfilerActivity,
    profile,
    schedule,
    tensorboard_trace_handler,
)


# %%
def trace_three_steps(train, folder: str) -> None:
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(wait=2, warmup=1, active=3, repeat=1),
        on_trace_ready=tensorboard_trace_handler(folder),
    ) as prof:
        for batch in train.batches():
            train.step(batch)
            prof.step()


# %%
if __name__ == "__main__":
    import tempfile
    from pathlib import Path

    from lab.workloads import build

    folder = Path(tempfile.mkdtemp()) / "traces"
    trace_three_steps(build("traced_loop", seed=1), str(folder))
    files = sorted(folder.glob("*")) if folder.is_dir() else []
    print(f"{len(files)} file{'' if len(files) == 1 else 's'} in {folder}")
    for file in files:
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")
