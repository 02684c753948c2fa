from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]


def trace_three_steps(train, folder):
    plan = schedule(wait=2, warmup=1, active=3, repeat=1)
    with profile(activities=BOTH, schedule=plan, on_trace_ready=tensorboard_trace_handler(folder)):
        for batch in train.batches():
            train.step(batch)
