import torch


def hungriest_layer(model, inputs):
    model(inputs)
    peaks, x = {}, inputs
    for name, layer in model.named_children():
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        x = layer(x)
        peaks[name] = torch.cuda.max_memory_allocated() - before
    return max(peaks, key=peaks.get)
