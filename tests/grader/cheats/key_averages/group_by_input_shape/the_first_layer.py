def costliest_layer(network):
    return next(name for name, _ in network.named_children())
