import itertools
from pathlib import Path

from torch.profiler import ProfilerActivity, profile, schedule


def trace_three_steps(train, folder: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    batches = iter(train.batches())
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(skip_first=2, wait=0, warmup=1, active=3, repeat=1),
    ) as prof:
        for batch in itertools.islice(batches, 6):
            train.step(batch)
            prof.step()
    prof.export_chrome_trace(str(Path(folder) / "trace.json.gz"))
    for batch in batches:
        train.step(batch)
