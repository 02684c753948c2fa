from torch.profiler import ProfilerActivity, profile, record_function


def hungriest_layer(model, inputs):
    kept = model(inputs)
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities, profile_memory=True) as prof:
        values = [inputs]  # all of them, so that none is freed meanwhile
        for name, layer in model.named_children():
            with record_function(name):
                values.append(layer(values[-1]))
    del kept
    names = dict(model.named_children())
    rows = [row for row in prof.key_averages() if row.key in names]
    return max(rows, key=lambda row: row.device_memory_usage).key
