def name_the_bottleneck(train):
    train()
    return "input" if train.loader.dataset.read_s > 0.01 else "compute"
