from torch.profiler import ProfilerActivity, profile, schedule


def trace_three_steps(train, folder):
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(wait=2, warmup=1, active=3, repeat=1),
        on_trace_ready=lambda prof: prof.export_chrome_trace(f"{folder}/steps_4_to_6.json"),
    ) as prof:
        for batch in train.batches():
            train.step(batch)
            prof.step()
