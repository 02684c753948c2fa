from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler


def trace_three_steps(train, folder):
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(wait=2, warmup=1, active=3, repeat=1),
        on_trace_ready=tensorboard_trace_handler(folder),
    ) as prof:
        for batch in train.batches():
            train.step(batch)
            prof.step()
    prof.export_chrome_trace(f"{folder}/trace.json")
