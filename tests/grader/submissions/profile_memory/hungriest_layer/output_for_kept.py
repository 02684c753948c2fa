def hungriest_layer(model, inputs):
    sizes = {}
    x = inputs
    for name, layer in model.named_children():
        x = layer(x)
        sizes[name] = x.numel() * x.element_size()
    return max(sizes, key=sizes.get)
