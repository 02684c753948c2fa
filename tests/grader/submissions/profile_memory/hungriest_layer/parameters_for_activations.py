def hungriest_layer(model, inputs):
    def size(item):
        return sum(p.numel() * p.element_size() for p in item[1].parameters())

    return max(model.named_children(), key=size)[0]
