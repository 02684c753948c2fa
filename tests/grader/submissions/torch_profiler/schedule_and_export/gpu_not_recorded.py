from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler


def trace_three_steps(train, folder):
    plan = schedule(wait=2, warmup=1, active=3, repeat=1)
    handler = tensorboard_trace_handler(folder)
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=handler) as prof:
        for batch in train.batches():
            train.step(batch)
            prof.step()
