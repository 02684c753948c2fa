from pathlib import Path

from torch.profiler import ProfilerActivity, profile, schedule


def trace_three_steps(train, folder):
    def save(prof=None):
        if prof is not None:
            prof.export_chrome_trace(str(Path(folder) / "trace.json"))

    Path(folder).mkdir(parents=True)
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(wait=2, warmup=1, active=3, repeat=1),
        on_trace_ready=save(),
    ) as prof:
        for batch in train.batches():
            train.step(batch)
            prof.step()
