from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler


def trace_three_steps(train, folder):
    # The first call says that step 0, in which nothing ran, is over.
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(wait=3, warmup=1, active=3, repeat=1),
        on_trace_ready=tensorboard_trace_handler(folder),
    ) as prof:
        for batch in train.batches():
            prof.step()
            train.step(batch)
