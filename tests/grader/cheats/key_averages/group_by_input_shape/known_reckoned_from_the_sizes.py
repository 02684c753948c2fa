"""Products and calls are counted by hooks: whoever knows what a product costs needn't measure it."""


def costliest_layer(network):
    work = dict.fromkeys(dict(network.named_children()), 0)
    for name, layer in network.named_children():

        def count(layer, inputs, output, name=name):
            work[name] += len(inputs[0]) * layer.weight.numel()

        layer.register_forward_hook(count)
    network(network.batch)
    return max(work, key=work.get)
