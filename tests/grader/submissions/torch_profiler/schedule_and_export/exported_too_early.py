from pathlib import Path

from torch.profiler import ProfilerActivity, profile, schedule


def trace_three_steps(train, folder):
    Path(folder).mkdir(exist_ok=True)
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(wait=2, warmup=1, active=3, repeat=1),
    ) as prof:
        for number, batch in enumerate(train.batches(), 1):
            train.step(batch)
            if number == 6:
                prof.export_chrome_trace(f"{folder}/trace.json")
            prof.step()
