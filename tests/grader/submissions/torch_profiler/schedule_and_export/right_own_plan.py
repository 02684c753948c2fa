import torch
from torch.profiler import ProfilerAction, tensorboard_trace_handler


def plan(step):
    actions = {2: "WARMUP", 3: "RECORD", 4: "RECORD", 5: "RECORD_AND_SAVE"}
    return ProfilerAction[actions.get(step, "NONE")]


def trace_three_steps(train, folder):
    handler = tensorboard_trace_handler(folder, worker_name="worker", use_gzip=True)
    with torch.profiler.profile(schedule=plan, on_trace_ready=handler) as prof:
        for batch in train.batches():
            train.step(batch)
            prof.step()
