from torch.profiler import ProfilerActivity, profile


def peak_of_a_step(step):
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities, profile_memory=True) as prof:
        step()
    return sum(max(0, row.self_device_memory_usage) for row in prof.key_averages())
