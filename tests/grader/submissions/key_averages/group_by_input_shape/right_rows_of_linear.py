import torch
from torch.profiler import ProfilerActivity, profile


def layer_of(network, input_shapes) -> str:
    for name, layer in network.named_children():
        shape = list(layer.weight.shape)
        if any(given in (shape, shape[::-1]) for given in input_shapes):
            return name
    return "unknown"


def costliest_layer(network) -> str:
    both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=both, record_shapes=True) as prof:
        network(network.batch)
        torch.cuda.synchronize()
    averages = prof.key_averages(group_by_input_shape=True)
    rows = [row for row in averages if row.key == "aten::linear"]
    costliest = max(rows, key=lambda row: row.device_time_total)
    return layer_of(network, costliest.input_shapes)
