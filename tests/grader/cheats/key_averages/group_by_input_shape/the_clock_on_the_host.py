import time


def costliest_layer(network):
    spent = dict.fromkeys(dict(network.named_children()), 0.0)
    for name, layer in network.named_children():
        forward = layer.forward

        def timed(x, name=name, forward=forward):
            begin = time.perf_counter()
            y = forward(x)
            spent[name] += time.perf_counter() - begin
            return y

        layer.forward = timed
    network(network.batch)
    return max(spent, key=spent.get)
