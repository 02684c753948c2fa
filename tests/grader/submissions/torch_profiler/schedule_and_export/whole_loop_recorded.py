from torch.profiler import ProfilerActivity, profile, tensorboard_trace_handler

BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]


def trace_three_steps(train, folder):
    with profile(activities=BOTH, on_trace_ready=tensorboard_trace_handler(folder)) as prof:
        for batch in train.batches():
            train.step(batch)
            prof.step()
