import time

import torch


def costliest_layer(network):
    seconds = {}
    inputs = {}

    def grab(module, args, output):
        inputs.setdefault(module, []).append(args[0])

    hooks = [layer.register_forward_hook(grab) for layer in network.children()]
    network(network.batch)
    for hook in hooks:
        hook.remove()
    for name, layer in network.named_children():
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(3):
            for x in inputs[layer]:
                layer(x)
        torch.cuda.synchronize()
        seconds[name] = time.perf_counter() - begin
    return max(seconds, key=seconds.get)
