from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]


def trace_three_steps(train, folder):
    wait, warmup, active = 2, 1, 3
    plan = schedule(wait=wait, warmup=warmup, active=active, repeat=1)
    with profile(activities=BOTH, schedule=plan, on_trace_ready=tensorboard_trace_handler(folder)) as prof:
        for number, batch in enumerate(train.batches()):
            if number >= wait + warmup + active:
                break
            train.step(batch)
            prof.step()
