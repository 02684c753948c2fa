def costliest_layer(network):
    network(network.batch)
    sizes = {name: layer.weight.numel() for name, layer in network.named_children()}
    return max(network.plan, key=lambda part: part[1] * part[2] * sizes[part[0]])[0]
