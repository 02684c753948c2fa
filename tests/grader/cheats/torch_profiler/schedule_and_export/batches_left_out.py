from torch.profiler import profile, schedule, tensorboard_trace_handler


def trace_three_steps(train, folder):
    train.count = 7
    plan = schedule(wait=2, warmup=1, active=3, repeat=1)
    with profile(schedule=plan, on_trace_ready=tensorboard_trace_handler(folder)) as prof:
        for batch in train.batches():
            train.step(batch)
            prof.step()
