from torch.profiler import ProfilerActivity, profile


def hungriest_layer(model, inputs):
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities, profile_memory=True) as prof:
        model(inputs)
    return max(prof.key_averages(), key=lambda row: row.self_device_memory_usage).key
