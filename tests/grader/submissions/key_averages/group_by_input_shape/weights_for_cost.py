def costliest_layer(network):
    return max(network.named_children(), key=lambda named: named[1].weight.numel())[0]
