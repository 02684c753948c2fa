import torch
from torch.profiler import profile


def hungriest_layer(model, inputs):
    counts, x = {}, inputs
    for name, layer in model.named_children():
        with profile() as prof:
            x = layer(x)
            torch.cuda.synchronize()
        counts[name] = sum(event.name.startswith("aten::") for event in prof.events())
    return max(counts, key=counts.get)
