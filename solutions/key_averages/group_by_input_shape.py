# %% [markdown]
# # The costliest layer
#
# `network(network.batch)` is a forward pass. All layers of the network are
# linear, so in a profile they share one operator: `aten::addmm`.
#
# Complete `costliest_layer`. It profiles a forward pass and returns the
# name of the layer that took the GPU longest, in all its calls together.
#
# `layer_of` is there already: it knows a layer by the shape of its weight.

# %%
import torch
from torch.profiler import ProfilerActivity, profile


# %%
def layer_of(network, input_shapes) -> str:
    """The layer whose weight, or its transpose, has one of these shapes."""
    for name, layer in network.named_children():
        shape = list(layer.weight.shape)
        if any(given in (shape, shape[::-1]) for given in input_shapes):
            return name
    return "unknown"


# %%
def costliest_layer(network) -> str:
    both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=both, record_shapes=True) as prof:
        network(network.batch)
        torch.cuda.synchronize()
    averages = prof.key_averages(group_by_input_shape=True)
    rows = [row for row in averages if row.key == "aten::addmm"]
    costliest = max(rows, key=lambda row: row.self_device_time_total)
    return layer_of(network, costliest.input_shapes)


# %%
if __name__ == "__main__":
    from lab.workloads import build

    network = build("layers_by_shape", seed=1)
    for name, layer in network.named_children():
        print(f"{name:8} weight {list(layer.weight.shape)}")
    print("Costliest layer:", costliest_layer(network))
