import torch
from torch.profiler import profile, record_function, schedule, tensorboard_trace_handler


def trace_three_steps(train, folder):
    with profile(schedule=schedule(wait=2, warmup=1, active=3, repeat=1)) as prof:
        for batch in train.batches():
            train.step(batch)
            prof.step()
    with profile(on_trace_ready=tensorboard_trace_handler(folder)):
        for _ in range(3):
            with record_function("train_step"):
                torch.ones(4, device="cuda") + 1
