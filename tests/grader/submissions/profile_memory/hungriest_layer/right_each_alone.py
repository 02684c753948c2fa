import torch


def hungriest_layer(model, inputs):
    # Each layer on its own: an input of its own, that needs a gradient.
    shapes, x = {}, inputs
    with torch.no_grad():
        for name, layer in model.named_children():
            shapes[name] = x.shape
            x = layer(x)
    del x
    grown = {}
    for name, layer in model.named_children():
        x = torch.randn(shapes[name], device="cuda", requires_grad=True)
        layer(x)
        before = torch.cuda.memory_stats()["allocated_bytes.all.current"]
        y = layer(x)
        grown[name] = torch.cuda.memory_stats()["allocated_bytes.all.current"] - before
        del x, y
    return max(grown, key=grown.get)
