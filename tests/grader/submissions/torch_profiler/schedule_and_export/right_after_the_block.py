from pathlib import Path

import torch
from torch.profiler import profile, schedule


def trace_three_steps(train, folder):
    with profile(schedule=schedule(wait=2, warmup=1, active=3, repeat=1)) as prof:
        for batch in train.batches():
            train.step(batch)
            torch.cuda.synchronize()
            prof.step()
    Path(folder).mkdir(parents=True, exist_ok=True)
    prof.export_chrome_trace(str(Path(folder) / "trace.json"))
