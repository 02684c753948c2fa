from torch.profiler import ProfilerActivity, profile, schedule


def profile_one_step(step):
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities, schedule=schedule(wait=1, warmup=1, active=1, repeat=1)) as prof:
        for _ in range(3):
            step()
    return prof
