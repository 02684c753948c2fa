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
    model(inputs)  # what is made at the first call is there from now on
    grown = {}
    x = inputs
    for name, layer in model.named_children():
        before = torch.cuda.memory_allocated()
        y = layer(x)  # x is still there: only this call changes the memory
        grown[name] = torch.cuda.memory_allocated() - before
        x = y
    return max(grown, key=grown.get)


# %%
if __name__ == "__main__":
    from lab.workloads import build

    for seed in (1, 2):
        model = build("hungry_layers", seed=seed, part="model")
        inputs = build("hungry_layers", seed=seed, part="inputs")
        print(f"model {seed}: {hungriest_layer(model, inputs)}")
