# %% [markdown]
# # The hungriest layer
#
# `model` is a sequence of layers; `model.named_children()` gives them with
# their names, in order. Each is called with what the one before returned.
#
# Complete `hungriest_layer`. It returns the name of the layer that leaves
# the most GPU memory behind in a forward pass of training: by how much more
# is allocated after its call than before (its output, and what it keeps for
# backward). What a layer makes only once, at its first call, doesn't count.

# %%
import torch


# %%
def hungriest_layer(model: torch.nn.Module, inputs: torch.Tensor) -> str:
    size = {}
    for name, layer in model.named_children():
        size[name] = sum(p.numel() for p in layer.parameters())
    return max(size, key=size.get)


# %%
if __name__ == "__main__":
    from lab.workloads import build

    for seed in (1, 2):
        model = build("hungry_layers", seed=seed, part="model")
        inputs = build("hungry_layers", seed=seed, part="inputs")
        print(f"model {seed}: {hungriest_layer(model, inputs)}")
