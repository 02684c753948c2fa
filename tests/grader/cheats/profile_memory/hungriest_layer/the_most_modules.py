def hungriest_layer(model, inputs):
    counts = {name: len(list(layer.modules())) for name, layer in model.named_children()}
    return max(counts, key=counts.get)
