def name_the_bottleneck(train):
    train()
    return "input" if train.loader.batch_size > 8 else "compute"
